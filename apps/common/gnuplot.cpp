#include "common/gnuplot.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/utf8.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

// "svg", "png" or "pdf".
std::string kind_of(const std::string& path) {
  const std::string end = lower_case(path.size() < 4 ? path : path.substr(path.size() - 4));
  if (end != ".svg" && end != ".png" && end != ".pdf") {
    throw UsageError("plot: expected a file name that ends in .svg, .png or .pdf, found " + quote(path));
  }
  return end.substr(1);
}

// The commands before a script. Font scales are such that a font size is in CSS pixels in every terminal.
std::string preamble(const std::string& kind, PlotSize size) {
  const auto sizes = [&](std::size_t factor, const std::string& unit) {
    return " size " + std::to_string(factor * size.width) + unit + "," + std::to_string(factor * size.height) + unit;
  };
  std::string terminal;
  if (kind == "svg") {
    terminal = "svg noenhanced font 'sans-serif,12' background rgb 'white'" + sizes(1, "");
  } else if (kind == "png") {  // twice the pixels: sharp on paper and on fine screens
    terminal = "pngcairo noenhanced font 'Sans,12' fontscale 1.5 linewidth 2 pointscale 2" + sizes(2, "");
  } else {
    terminal = "pdfcairo noenhanced font 'Sans,12' fontscale 0.5625 linewidth 2" + sizes(1, "/96.0");
  }
  return "set encoding utf8\nset terminal " + terminal + "\n";
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error("gnuplot: expected " + what + ", found: " + std::strerror(error));
}

File temporary_file() {
  File file(std::tmpfile());
  if (!file) fail("a temporary file", errno);
  return file;
}

std::string contents(std::FILE* file) {
  std::string bytes;
  char chunk[1 << 14];
  std::rewind(file);
  for (std::size_t count; (count = std::fread(chunk, 1, sizeof chunk, file)) > 0;) bytes.append(chunk, count);
  if (std::ferror(file) != 0) fail("to read what it wrote", errno);
  return bytes;
}

// The last line that says something: lines before it are warnings and the command at fault.
std::string complaint(const std::string& stderr_text) {
  const auto end = stderr_text.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return "no reason given";
  const auto line = stderr_text.find_last_of('\n', end);
  const auto start = stderr_text.find_first_not_of(" \t", line == std::string::npos ? 0 : line + 1);
  return stderr_text.substr(start, end + 1 - start);
}

// Environment of the child: ours in the C locale.
std::vector<std::string> child_environment() {
  std::vector<std::string> variables{"LC_ALL=C"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "LC_ALL=", 7) != 0) variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct Run {
  bool found = false;
  int status = 0;  // as of waitpid
  std::string output, errors;
};

// Files, not pipes, stand at the child's ends: nobody waits for a full pipe.
Run run_child(const std::string& script) {
  const File in = temporary_file(), out = temporary_file(), err = temporary_file();
  if (std::fwrite(script.data(), 1, script.size(), in.get()) != script.size() || std::fflush(in.get()) != 0) {
    fail("to write the script", errno);
  }
  std::rewind(in.get());

  std::vector<std::string> arguments{"gnuplot", "-d", "-"};  // no start-up files, commands from stdin
  std::vector<std::string> variables = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err.get()), STDERR_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, "gnuplot", &actions, nullptr, pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  Run run;
  if (error == ENOENT || error == EACCES || error == ENOTDIR) return run;
  if (error != 0) fail("to start", error);
  run.found = true;
  while (waitpid(child, &run.status, 0) < 0) {
    if (errno != EINTR) fail("to end", errno);
  }
  run.output = contents(out.get());
  run.errors = contents(err.get());
  return run;
}

// `set output` of a path: a leading '|' or '~' means more than a file there.
std::string output_command(const std::string& path) {
  const bool special = path.starts_with('|') || path.starts_with('~');
  return "set output " + gnuplot_text((special ? "./" : "") + path) + "\n";
}

}  // namespace

void check_plot_path(const std::string& output_path) { static_cast<void>(kind_of(output_path)); }

PlotResult run_gnuplot(const std::string& script, const std::string& output_path, PlotSize size) {
  const std::string start = preamble(kind_of(output_path), size);
  const Run run = run_child(start + script);
  if (!run.found) {
    const std::string script_path = output_path + ".gp";
    write_atomically(script_path, start + output_command(output_path) + script);
    return {false,
            "gnuplot is not on PATH: wrote the script " + quote(script_path) + " instead of " + quote(output_path)};
  }
  const auto fail_drawing = [&](const std::string& why) {
    throw Error("gnuplot: expected " + quote(output_path) + ", found: " + why);
  };
  if (WIFSIGNALED(run.status)) fail_drawing("ended by signal " + std::to_string(WTERMSIG(run.status)));
  if (run.status != 0) fail_drawing(complaint(run.errors));
  if (run.output.empty()) fail_drawing("an empty picture");
  write_atomically(output_path, run.output);
  return {true, ""};
}

// Octal escapes in double quotes: single quotes will not do, as gnuplot ends such a string at a doubled quote that
// comes first in it, and takes the rest for commands.
std::string gnuplot_text(std::string_view text) {
  constexpr std::string_view harmless = " .,:;=+-_/()";
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      result += '?';
    } else if (byte < 0x20 || byte == 0x7f) {
      result += ' ';
    } else if (byte >= 0x80 || std::isalnum(byte) != 0 || harmless.find(text[0]) != std::string_view::npos) {
      result += text.substr(0, length);
    } else {
      result += {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
                 static_cast<char>('0' + byte % 8)};
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result + "\"";
}

}  // namespace fcam::apps
