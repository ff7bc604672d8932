// Networks on pages.

#include "libcore/plot/diagram.h"

#include "libcore/convert/export/diagram.h"
#include "libcore/nn/layout.h"
#include "libcore/plot/markup.h"

namespace dl::plot {

void add_diagram(Page& page, const nn::NetworkConfig& network) {
  const nn::Layout layout = nn::layout_of(network);
  std::vector<std::vector<std::string>> rows;
  for (const nn::LayerSummary& layer : nn::summarise(network, layout)) {
    std::string shape;
    for (const std::int64_t extent : layer.output.extents())
      shape += (shape.empty() ? "" : " × ") + std::to_string(extent);
    rows.push_back({layer.name, layer.type, shape,
                    grouped(static_cast<double>(layer.parameters))});
  }
  page.html(
      "<div class=\"diagram\" role=\"img\" tabindex=\"0\" "
      "aria-label=\"Diagram of the network; the table below lists its "
      "layers\">" +
      convert::to_svg(convert::diagram_of(network)) + "</div>\n");
  page.table({"Layer", "Type", "Output", "Parameters"}, rows, "Layers", true);
}

}  // namespace dl::plot
