#include "common/report_document.h"
#include "common/svg.h"

namespace fcam::apps {
namespace {

std::string page_style() {
  return "*{box-sizing:border-box}\n"
         "body{margin:0 auto;padding:1rem 1rem 3rem;max-width:76rem;background:var(--page);color:var(--ink);"
         "font:16px/1.5 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}\n"
         "h1{font-size:1.6rem;line-height:1.25}\nh2{font-size:1.2rem;margin:2.2rem 0 .6rem;line-height:1.3}\n"
         "p,li{max-width:48rem}\n"
         "figure{margin:1rem 0}\nfigcaption{color:var(--faint);max-width:48rem;font-size:.95rem}\n"
         ".panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:1rem}\n"
         ".panels svg{width:100%;max-width:30rem;height:auto}\n"
         ".scroll{overflow-x:auto}\n"
         "table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}\n"
         "th,td{padding:.35rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--grid)}\n"
         "th{color:var(--faint);font-weight:600;overflow-wrap:normal}\n"
         "td:first-child,table.prose td:nth-child(4),table.prose td:nth-child(5){white-space:nowrap}\n"
         "table.numbers td{white-space:nowrap}\n"
         "tr.good td:last-child{color:var(--lv);font-weight:600;white-space:nowrap}\n"
         "tr.bad td:last-child{color:var(--o5);font-weight:600;white-space:nowrap}\n"
         "tr.open td:last-child{color:var(--faint)}\n"
         "@media screen and (max-width:44rem){table.prose,table.prose tbody,table.prose tr,table.prose td"
         "{display:block;width:100%}\ntable.prose thead{display:none}\n"
         "table.prose tr{border-bottom:1px solid var(--grid);padding:.6rem 0}\n"
         "table.prose td{border:0;padding:.1rem 0!important}\n"
         "table.prose "
         "td:not([data-name=\"\"])::before{content:attr(data-name);color:var(--faint);margin-right:.5rem}}\n"
         "@media print{body{font-size:11pt;max-width:none;padding:0}figure,tr{break-inside:avoid}"
         "h2{break-after:avoid}.panels{grid-template-columns:repeat(3,1fr)}"
         ".scroll{overflow:visible}}\n";
}

struct ToHtml {
  std::string operator()(const Heading& heading) const { return "<h2>" + escape_markup(heading.text) + "</h2>\n"; }
  std::string operator()(const Paragraph& paragraph) const { return "<p>" + escape_markup(paragraph.text) + "</p>\n"; }
  std::string operator()(const List& list) const {
    std::string html = "<ul>\n";
    for (const std::string& item : list.items) html += "<li>" + escape_markup(item) + "</li>\n";
    return html + "</ul>\n";
  }
  std::string operator()(const Table& table) const {
    std::string html =
        std::string("<div class=\"scroll\"><table class=\"") + (table.prose ? "prose" : "numbers") + "\">\n<thead><tr>";
    for (const std::string& name : table.header) html += "<th scope=\"col\">" + escape_markup(name) + "</th>";
    html += "</tr></thead>\n<tbody>\n";
    for (const Table::Row& row : table.rows) {
      html += row.mark.empty() ? "<tr>" : "<tr class=\"" + row.mark + "\">";
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        html += "<td data-name=\"" + escape_markup(table.header[i]) + "\">" + escape_markup(row.cells[i]) + "</td>";
      }
      html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
  }
  std::string operator()(const Figure& figure) const {
    std::string html = "<figure>\n<div class=\"panels\">\n";
    for (const Panel& panel : figure.panels) html += inline_svg(panel);
    return html + "</div>\n<figcaption>" + escape_markup(figure.caption) + "</figcaption>\n</figure>\n";
  }
};

}  // namespace

std::string to_html(const Report& report) {
  const std::string title = escape_markup(report.title);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
      title + "</title>\n<style>\n" + svg_style() + page_style() + "</style>\n</head>\n<body>\n<h1>" + title +
      "</h1>\n";
  for (const auto& block : report.blocks) html += std::visit(ToHtml{}, block);
  return html + "</body>\n</html>\n";
}

}  // namespace fcam::apps
