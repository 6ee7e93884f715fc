#include "ConformanceVectors.h"

// The vector files as they are, in the order in which they run: name, and the file with a zero behind it.
static const struct fleetsim_vector_file files[] = {
    {"backoff.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/backoff.json" suffix(, 0)
    }},
    {"datafly.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/datafly.json" suffix(, 0)
    }},
    {"keen-existing.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/keen-existing.json" suffix(, 0)
    }},
    {"keen.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/keen.json" suffix(, 0)
    }},
    {"legacy.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/legacy.json" suffix(, 0)
    }},
    {"limits-age.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/limits-age.json" suffix(, 0)
    }},
    {"limits-count.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/limits-count.json" suffix(, 0)
    }},
    {"no-status.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/no-status.json" suffix(, 0)
    }},
    {"offline-first.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/offline-first.json" suffix(, 0)
    }},
    {"pipeline-states.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/pipeline-states.json" suffix(, 0)
    }},
    {"reports.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/reports.json" suffix(, 0)
    }},
    {"restarts.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/restarts.json" suffix(, 0)
    }},
    {"retry-after-dates.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/retry-after-dates.json" suffix(, 0)
    }},
    {"retry-after-elsewhere.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/retry-after-elsewhere.json" suffix(, 0)
    }},
    {"retry-after.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/retry-after.json" suffix(, 0)
    }},
    {"retry-count.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/retry-count.json" suffix(, 0)
    }},
    {"settings-at-launch.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/settings-at-launch.json" suffix(, 0)
    }},
    {"settings-missing.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/settings-missing.json" suffix(, 0)
    }},
    {"settings-repairs-backoff.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/settings-repairs-backoff.json" suffix(, 0)
    }},
    {"settings-repairs-rate-limit.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/settings-repairs-rate-limit.json" suffix(, 0)
    }},
    {"settings-repairs-structure.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/settings-repairs-structure.json" suffix(, 0)
    }},
    {"settings-shapes.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/settings-shapes.json" suffix(, 0)
    }},
    {"settings-statuses.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/settings-statuses.json" suffix(, 0)
    }},
    {"statuses-4xx.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/statuses-4xx.json" suffix(, 0)
    }},
    {"statuses-5xx.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/statuses-5xx.json" suffix(, 0)
    }},
    {"toggl.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/toggl.json" suffix(, 0)
    }},
    {"triggers.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/triggers.json" suffix(, 0)
    }},
    {"upload-loop.json", (const char[]){
#embed "../../Tests/ConformanceTests/Vectors/upload-loop.json" suffix(, 0)
    }},
};

size_t fleetsim_vector_count(void) { return sizeof files / sizeof *files; }

struct fleetsim_vector_file fleetsim_vector(size_t index) { return files[index]; }
