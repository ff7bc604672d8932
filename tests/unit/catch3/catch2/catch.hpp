// Catch2 3 under the name of version 2's header, which the tests include: on
// the include path only where version 3 is installed.

#ifndef DL_TESTS_UNIT_CATCH3_CATCH2_CATCH_HPP_
#define DL_TESTS_UNIT_CATCH3_CATCH2_CATCH_HPP_

#include <catch2/catch_all.hpp>
#include <string>
#include <utility>

using Catch::Approx;

namespace Catch {

namespace Detail {
using Catch::Approx;
}
using Matchers::EndsWith;
using Matchers::StartsWith;

inline auto Contains(std::string part) {
  return Matchers::ContainsSubstring(std::move(part));
}

}  // namespace Catch

#endif  // DL_TESTS_UNIT_CATCH3_CATCH2_CATCH_HPP_
