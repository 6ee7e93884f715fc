// Style sheets, script and words of pages, carried in the binary by the compiler's #embed (C23). UTF-8 that ends with a zero.
#ifndef FLEETSIM_REPORT_FILES_H
#define FLEETSIM_REPORT_FILES_H

/// Of every page.
const char *fleetsim_report_css(void);
/// Of the page over the runs of a grid.
const char *fleetsim_explore_css(void);
const char *fleetsim_explore_js(void);
/// Words with their meanings, section by section.
const char *fleetsim_words_txt(void);

#endif
