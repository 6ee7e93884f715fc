#include "ConformanceVectors.h"

// The vector files as they are, each with a zero behind it. The table at the end names them in the order in which they run.

static const char backoff[] = {
#embed "../../Tests/ConformanceTests/Vectors/backoff.json" suffix(, 0)
};
static const char datafly[] = {
#embed "../../Tests/ConformanceTests/Vectors/datafly.json" suffix(, 0)
};
static const char keen_existing[] = {
#embed "../../Tests/ConformanceTests/Vectors/keen-existing.json" suffix(, 0)
};
static const char keen[] = {
#embed "../../Tests/ConformanceTests/Vectors/keen.json" suffix(, 0)
};
static const char legacy[] = {
#embed "../../Tests/ConformanceTests/Vectors/legacy.json" suffix(, 0)
};
static const char limits_age[] = {
#embed "../../Tests/ConformanceTests/Vectors/limits-age.json" suffix(, 0)
};
static const char limits_count[] = {
#embed "../../Tests/ConformanceTests/Vectors/limits-count.json" suffix(, 0)
};
static const char no_status[] = {
#embed "../../Tests/ConformanceTests/Vectors/no-status.json" suffix(, 0)
};
static const char offline_first[] = {
#embed "../../Tests/ConformanceTests/Vectors/offline-first.json" suffix(, 0)
};
static const char pipeline_states[] = {
#embed "../../Tests/ConformanceTests/Vectors/pipeline-states.json" suffix(, 0)
};
static const char reports[] = {
#embed "../../Tests/ConformanceTests/Vectors/reports.json" suffix(, 0)
};
static const char restarts[] = {
#embed "../../Tests/ConformanceTests/Vectors/restarts.json" suffix(, 0)
};
static const char retry_after_dates[] = {
#embed "../../Tests/ConformanceTests/Vectors/retry-after-dates.json" suffix(, 0)
};
static const char retry_after_elsewhere[] = {
#embed "../../Tests/ConformanceTests/Vectors/retry-after-elsewhere.json" suffix(, 0)
};
static const char retry_after[] = {
#embed "../../Tests/ConformanceTests/Vectors/retry-after.json" suffix(, 0)
};
static const char retry_count[] = {
#embed "../../Tests/ConformanceTests/Vectors/retry-count.json" suffix(, 0)
};
static const char settings_at_launch[] = {
#embed "../../Tests/ConformanceTests/Vectors/settings-at-launch.json" suffix(, 0)
};
static const char settings_missing[] = {
#embed "../../Tests/ConformanceTests/Vectors/settings-missing.json" suffix(, 0)
};
static const char settings_repairs_backoff[] = {
#embed "../../Tests/ConformanceTests/Vectors/settings-repairs-backoff.json" suffix(, 0)
};
static const char settings_repairs_rate_limit[] = {
#embed "../../Tests/ConformanceTests/Vectors/settings-repairs-rate-limit.json" suffix(, 0)
};
static const char settings_repairs_structure[] = {
#embed "../../Tests/ConformanceTests/Vectors/settings-repairs-structure.json" suffix(, 0)
};
static const char settings_shapes[] = {
#embed "../../Tests/ConformanceTests/Vectors/settings-shapes.json" suffix(, 0)
};
static const char settings_statuses[] = {
#embed "../../Tests/ConformanceTests/Vectors/settings-statuses.json" suffix(, 0)
};
static const char statuses_4xx[] = {
#embed "../../Tests/ConformanceTests/Vectors/statuses-4xx.json" suffix(, 0)
};
static const char statuses_5xx[] = {
#embed "../../Tests/ConformanceTests/Vectors/statuses-5xx.json" suffix(, 0)
};
static const char toggl[] = {
#embed "../../Tests/ConformanceTests/Vectors/toggl.json" suffix(, 0)
};
static const char triggers[] = {
#embed "../../Tests/ConformanceTests/Vectors/triggers.json" suffix(, 0)
};
static const char upload_loop[] = {
#embed "../../Tests/ConformanceTests/Vectors/upload-loop.json" suffix(, 0)
};

#define FILE(name, text) {name, text}

static const struct fleetsim_vector_file files[] = {
    FILE("backoff.json", backoff),
    FILE("datafly.json", datafly),
    FILE("keen-existing.json", keen_existing),
    FILE("keen.json", keen),
    FILE("legacy.json", legacy),
    FILE("limits-age.json", limits_age),
    FILE("limits-count.json", limits_count),
    FILE("no-status.json", no_status),
    FILE("offline-first.json", offline_first),
    FILE("pipeline-states.json", pipeline_states),
    FILE("reports.json", reports),
    FILE("restarts.json", restarts),
    FILE("retry-after-dates.json", retry_after_dates),
    FILE("retry-after-elsewhere.json", retry_after_elsewhere),
    FILE("retry-after.json", retry_after),
    FILE("retry-count.json", retry_count),
    FILE("settings-at-launch.json", settings_at_launch),
    FILE("settings-missing.json", settings_missing),
    FILE("settings-repairs-backoff.json", settings_repairs_backoff),
    FILE("settings-repairs-rate-limit.json", settings_repairs_rate_limit),
    FILE("settings-repairs-structure.json", settings_repairs_structure),
    FILE("settings-shapes.json", settings_shapes),
    FILE("settings-statuses.json", settings_statuses),
    FILE("statuses-4xx.json", statuses_4xx),
    FILE("statuses-5xx.json", statuses_5xx),
    FILE("toggl.json", toggl),
    FILE("triggers.json", triggers),
    FILE("upload-loop.json", upload_loop),
};

size_t fleetsim_vector_count(void) { return sizeof files / sizeof *files; }

struct fleetsim_vector_file fleetsim_vector(size_t index) { return files[index]; }
