// Catch2's main(), compiled once for all unit tests; version 3 brings its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
