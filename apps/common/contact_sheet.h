// Mosaics as a picture to look at.
#pragma once

#include <cstddef>

#include "common/png.h"
#include "fcam/data/mosaic.h"

namespace fcam::apps {

/// Colours of a contact sheet.
inline constexpr Color sheet_background{255, 255, 255};
inline constexpr Color foreground_frame{230, 60, 0};     ///< around the patch at z
inline constexpr Color background_frame{208, 208, 208};  ///< around every other patch

/// The first `count` mosaics (at most all of them), a mosaic a row with its patches side by side, the foreground framed
/// in a strong colour; where that makes a tall sheet the rows go on in further columns. Small patches are enlarged by a
/// whole number to about 64 pixels. Three channels are shown as colours, otherwise the first channel as grey; numbers
/// are scaled so that the shown ones span black to white; a vector is a strip of cells. Throws UsageError as
/// check_contact_sheet does. Requires count >= 1.
Picture contact_sheet(const Mosaics& mosaics, std::size_t count);

/// Throws UsageError where that sheet would have more than a hundred million pixels, or a million a side: to be called
/// before other outputs are written.
void check_contact_sheet(const Mosaics& mosaics, std::size_t count);

}  // namespace fcam::apps
