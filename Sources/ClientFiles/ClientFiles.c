#include "ClientFiles.h"

// The client files as they are, in the order of the tables: name, whether it is documented, and the file with a zero behind it.
static const struct fleetsim_client_file files[] = {
    {"tapi-document", true, (const char[]){
#embed "clients/tapi-document.json5" suffix(, 0)
    }},
    {"segment-swift", true, (const char[]){
#embed "clients/segment-swift.json5" suffix(, 0)
    }},
    {"segment-kotlin", true, (const char[]){
#embed "clients/segment-kotlin.json5" suffix(, 0)
    }},
    {"segment-react-native", true, (const char[]){
#embed "clients/segment-react-native.json5" suffix(, 0)
    }},
    {"segment-kotlin-main", true, (const char[]){
#embed "clients/segment-kotlin-main.json5" suffix(, 0)
    }},
    {"segment-browser", true, (const char[]){
#embed "clients/segment-browser.json5" suffix(, 0)
    }},
    {"segment-browser-batching", true, (const char[]){
#embed "clients/segment-browser-batching.json5" suffix(, 0)
    }},
    {"keen-existing", true, (const char[]){
#embed "clients/keen-existing.json5" suffix(, 0)
    }},
    {"keen-proposed", true, (const char[]){
#embed "clients/keen-proposed.json5" suffix(, 0)
    }},
    {"offline-first", true, (const char[]){
#embed "clients/offline-first.json5" suffix(, 0)
    }},
    {"toggl", true, (const char[]){
#embed "clients/toggl.json5" suffix(, 0)
    }},
    {"toggl-push", true, (const char[]){
#embed "clients/toggl-push.json5" suffix(, 0)
    }},
    {"datafly", true, (const char[]){
#embed "clients/datafly.json5" suffix(, 0)
    }},
    {"amplitude-analytics-browser", false, (const char[]){
#embed "clients/amplitude-analytics-browser.json5" suffix(, 0)
    }},
    {"amplitude-analytics-node", false, (const char[]){
#embed "clients/amplitude-analytics-node.json5" suffix(, 0)
    }},
    {"amplitude-kotlin", false, (const char[]){
#embed "clients/amplitude-kotlin.json5" suffix(, 0)
    }},
    {"amplitude-node", false, (const char[]){
#embed "clients/amplitude-node.json5" suffix(, 0)
    }},
    {"amplitude-python", false, (const char[]){
#embed "clients/amplitude-python.json5" suffix(, 0)
    }},
    {"aws-sdk-2026", false, (const char[]){
#embed "clients/aws-sdk-2026.json5" suffix(, 0)
    }},
    {"aws-sdk-standard", false, (const char[]){
#embed "clients/aws-sdk-standard.json5" suffix(, 0)
    }},
    {"grpc", false, (const char[]){
#embed "clients/grpc.json5" suffix(, 0)
    }},
    {"mixpanel-android", false, (const char[]){
#embed "clients/mixpanel-android.json5" suffix(, 0)
    }},
    {"mixpanel-android-2015", false, (const char[]){
#embed "clients/mixpanel-android-2015.json5" suffix(, 0)
    }},
    {"mixpanel-js", false, (const char[]){
#embed "clients/mixpanel-js.json5" suffix(, 0)
    }},
    {"mixpanel-python", false, (const char[]){
#embed "clients/mixpanel-python.json5" suffix(, 0)
    }},
    {"opentelemetry-collector", false, (const char[]){
#embed "clients/opentelemetry-collector.json5" suffix(, 0)
    }},
    {"opentelemetry-python", false, (const char[]){
#embed "clients/opentelemetry-python.json5" suffix(, 0)
    }},
    {"posthog", false, (const char[]){
#embed "clients/posthog.json5" suffix(, 0)
    }},
    {"posthog-js", false, (const char[]){
#embed "clients/posthog-js.json5" suffix(, 0)
    }},
    {"posthog-python", false, (const char[]){
#embed "clients/posthog-python.json5" suffix(, 0)
    }},
    {"prometheus-remote-write", false, (const char[]){
#embed "clients/prometheus-remote-write.json5" suffix(, 0)
    }},
    {"segment-node", false, (const char[]){
#embed "clients/segment-node.json5" suffix(, 0)
    }},
    {"segment-python", false, (const char[]){
#embed "clients/segment-python.json5" suffix(, 0)
    }},
    {"sentry", false, (const char[]){
#embed "clients/sentry.json5" suffix(, 0)
    }},
};

size_t fleetsim_client_count(void) { return sizeof files / sizeof *files; }

struct fleetsim_client_file fleetsim_client(size_t index) { return files[index]; }
