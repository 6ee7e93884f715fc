#include "ClientFiles.h"

// The client files as they are, each with a zero behind it. The table at the end names them in the order of the tables.

static const char tapi_document[] = {
#embed "clients/tapi-document.json5" suffix(, 0)
};
static const char segment_swift[] = {
#embed "clients/segment-swift.json5" suffix(, 0)
};
static const char segment_kotlin[] = {
#embed "clients/segment-kotlin.json5" suffix(, 0)
};
static const char segment_react_native[] = {
#embed "clients/segment-react-native.json5" suffix(, 0)
};
static const char keen_existing[] = {
#embed "clients/keen-existing.json5" suffix(, 0)
};
static const char keen_proposed[] = {
#embed "clients/keen-proposed.json5" suffix(, 0)
};
static const char offline_first[] = {
#embed "clients/offline-first.json5" suffix(, 0)
};
static const char toggl[] = {
#embed "clients/toggl.json5" suffix(, 0)
};
static const char toggl_push[] = {
#embed "clients/toggl-push.json5" suffix(, 0)
};
static const char datafly[] = {
#embed "clients/datafly.json5" suffix(, 0)
};
static const char amplitude_kotlin[] = {
#embed "clients/amplitude-kotlin.json5" suffix(, 0)
};
static const char amplitude_node[] = {
#embed "clients/amplitude-node.json5" suffix(, 0)
};
static const char aws_sdk_standard[] = {
#embed "clients/aws-sdk-standard.json5" suffix(, 0)
};
static const char grpc[] = {
#embed "clients/grpc.json5" suffix(, 0)
};
static const char mixpanel_android[] = {
#embed "clients/mixpanel-android.json5" suffix(, 0)
};
static const char mixpanel_android_2015[] = {
#embed "clients/mixpanel-android-2015.json5" suffix(, 0)
};
static const char opentelemetry_collector[] = {
#embed "clients/opentelemetry-collector.json5" suffix(, 0)
};
static const char posthog[] = {
#embed "clients/posthog.json5" suffix(, 0)
};
static const char posthog_js[] = {
#embed "clients/posthog-js.json5" suffix(, 0)
};

static const struct fleetsim_client_file files[] = {
    {"tapi-document", true, tapi_document},
    {"segment-swift", true, segment_swift},
    {"segment-kotlin", true, segment_kotlin},
    {"segment-react-native", true, segment_react_native},
    {"keen-existing", true, keen_existing},
    {"keen-proposed", true, keen_proposed},
    {"offline-first", true, offline_first},
    {"toggl", true, toggl},
    {"toggl-push", true, toggl_push},
    {"datafly", true, datafly},
    {"amplitude-kotlin", false, amplitude_kotlin},
    {"amplitude-node", false, amplitude_node},
    {"aws-sdk-standard", false, aws_sdk_standard},
    {"grpc", false, grpc},
    {"mixpanel-android", false, mixpanel_android},
    {"mixpanel-android-2015", false, mixpanel_android_2015},
    {"opentelemetry-collector", false, opentelemetry_collector},
    {"posthog", false, posthog},
    {"posthog-js", false, posthog_js},
};

size_t fleetsim_client_count(void) { return sizeof files / sizeof *files; }

struct fleetsim_client_file fleetsim_client(size_t index) { return files[index]; }
