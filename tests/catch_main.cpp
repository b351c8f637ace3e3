// The entry point of the tests: Catch2's own, then one closing line that other programs can read.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <cstdio>
#include <optional>

namespace {

std::optional<Catch::Counts> test_cases;  // of a run, not of a list

struct CountTestCases : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override { test_cases = stats.totals.testCases; }
};
CATCH_REGISTER_LISTENER(CountTestCases)

}  // namespace

int main(int argc, char** argv) {
  const int result = Catch::Session().run(argc, argv);
  if (test_cases)
    std::printf("%zu passed, %zu failed\n", static_cast<std::size_t>(test_cases->passed),
                static_cast<std::size_t>(test_cases->failed + test_cases->failedButOk));
  return result;
}
