// Lists of class names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fcam {

/// The names in a text file, one a line. A byte order mark, line ends of any system, blanks around names and blank
/// lines do not matter. Throws DataError if there is no name, one comes twice, or there is a zero byte (UTF-16, say).
std::vector<std::string> read_class_names(const std::string& path);

/// The same; throws DataError also unless there are just `count` names.
std::vector<std::string> read_class_names(const std::string& path, std::size_t count);

/// The text of a file from which read_class_names gets these names. Throws UsageError, naming `who`, where there is
/// none: a name holds line ends or a zero byte, has blanks around it, is empty, or comes twice.
std::string class_names_text(const std::vector<std::string>& names, const std::string& who);

/// "0", "1", ... : names of classes that have none.
std::vector<std::string> numbers_as_names(std::size_t count);

}  // namespace fcam
