#include "ReportFiles.h"

static const char report_css[] = {
#embed "files/report.css" suffix(, 0)
};
static const char explore_css[] = {
#embed "files/explore.css" suffix(, 0)
};
static const char explore_js[] = {
#embed "files/explore.js" suffix(, 0)
};
static const char words_txt[] = {
#embed "files/words.txt" suffix(, 0)
};

const char *fleetsim_report_css(void) { return report_css; }
const char *fleetsim_explore_css(void) { return explore_css; }
const char *fleetsim_explore_js(void) { return explore_js; }
const char *fleetsim_words_txt(void) { return words_txt; }
