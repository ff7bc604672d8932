// The classes that are imported, and why others are not.

#include <map>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {
namespace {

using Table = std::map<std::string_view, Make>;

const Table& layers() {
  static const Table all = [] {
    Table table;
    for (const auto& family :
         {dense_classes(), convolution_classes(), pool_classes(),
          shape_classes(), norm_classes(), recurrent_classes(),
          output_classes(), attention_classes(), box_classes(),
          wrapper_classes()})
      for (const Class& one : family) table.emplace(one.name, one.make);
    return table;
  }();
  return all;
}

const Table& vertices() {
  static const Table all = [] {
    Table table;
    for (const Class& one : vertex_classes()) table.emplace(one.name, one.make);
    return table;
  }();
  return all;
}

// Reason for refusing a class, with what would be needed.
const char* why_not(const std::string& name) {
  static const std::map<std::string_view, const char*> all{
      {"learnedselfattention",
       "an attention with queries that are learnt would be needed"},
      {"recurrentattention", "a recurrent attention would be needed"},
      {"attention", "an attention with inputs of its own would be needed"},
      {"dotproductattention",
       "an attention without weights of its own would be needed"},
      {"ocnnoutput", "a loss of one class would be needed"},
      {"locallyconnected1d",
       "a convolution with weights for each place would be needed"},
      {"locallyconnected2d",
       "a convolution with weights for each place would be needed"},
      {"deconvolution3d",
       "a transposed convolution of volumes would be needed"},
      {"spacetobatch", "squares that become examples would be needed"},
      {"capsule", "capsules would be needed"},
      {"primarycapsules", "capsules would be needed"},
      {"capsulestrength", "capsules would be needed"},
      {"rbm", "a restricted Boltzmann machine would be needed"}};
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  if (name.find("samediff") != std::string::npos ||
      name.find("lambda") != std::string::npos)
    return "it is Java code, which is never run; a layer that DL4J itself has "
           "would be needed";
  return "its class is none of DL4J's that is known; a layer that DL4J itself "
         "has would be needed";
}

// Where it says which, its inputs have their channels there.
void check_format(const Site& site) {
  if (channels_last_in(site.json()) != true) return;
  for (const Flow& flow : site.in())
    if (Site::shape(flow).rank() > 1 && !flow.last)
      site.refuse(
          "it has its channels last, and what comes before it has them first; "
          "the same would be needed");
}

Make find(const Table& table, const std::string& name) {
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

Flow make_layer(Site& site) {
  const std::string name = class_of(site.json(), "layer");
  const Make make = find(layers(), name);
  if (make == nullptr) site.refuse(why_not(name));
  // These say how what they make is.
  if (name != "embeddingsequence" && name != "repeatvector") check_format(site);
  Site disturbing = site.as(site.json(), site.in());
  if (site.in().size() == 1) {
    const Flow value = disturbed(site, site.only());
    disturbing = site.as(site.json(), {value});
  }
  return make(disturbing);
}

Flow make_vertex(Site& site) {
  const std::string name = class_of(site.json(), "vertex");
  const Make make = find(vertices(), name);
  if (make == nullptr) site.refuse(why_not(name));
  if (site.in().empty()) site.refuse("it has no inputs");
  return make(site);
}

}  // namespace dl::convert::dl4j
