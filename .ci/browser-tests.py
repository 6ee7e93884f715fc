#!/usr/bin/env python3
"""Pages in a real browser: .ci/browser-tests.py FLEETSIM [SCREENSHOTS]

Every kind of page is made from texts that would run a script, and none runs. Makes an explorer of eight small runs and uses it as a reader would: sliders by keyboard, choices, hover, pins, the address as a link, dark
mode, without script. Needs chromium, chromedriver and the package selenium. What is right is read from summary.csv beside the page.
"""
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

SCENARIO = """{ format: 1, question: "What do both do together?", seed: 3, duration: "30m", interval: "5s",
  tapi: { bucket: { capacity: "30/s", burst: 20 }, overload: { status: 503 },
          incidents: [{ kind: "outage", at: "5m", for: "3m", status: 503 }] },
  fleet: [{ name: "phones", devices: 300, client: "tapi-document", events: "6/min", flush: { count: 20, interval: "30s" },
            retries: "timer", timeout: "15s" }] }"""
CAPACITIES = ["20/s", "30/s", "40/s", "60/s"]
# The scenario's own capacity and jitter are among them.
JITTERS = ["additive:10", "full"]


# U+0600 joins the character behind it: who compares whole characters finds no '<' there.
HOSTILE = [
    "\u0600</script>\u0600<img src=x onerror=document.title='owned'>",
    "</script><script>document.title='owned'</script>",
    "\"\u0600onmouseover=document.title='owned' x=\u0600'",
    "]]>\u202e<svg onload=document.title='owned'>\u0600&lt;b>",
]


def browser(*arguments, script=True):
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1300", *arguments]:
        options.add_argument(argument)
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def hostile(fleetsim, folder):
    """Pages of every command that takes little time, made from hostile texts: how many."""
    text = SCENARIO.replace('"What do both do together?"', json.dumps("".join(HOSTILE)))
    (folder / "s.json5").write_text(text[:-1] + f", compare: {{ question: {json.dumps(HOSTILE)} }} }}")
    (folder / "alone.json5").write_text(text)
    commands = [
        ["compare", "s.json5", "--explore"], ["compare", "s.json5"], ["compare", "s.json5", "--seeds", "2"], ["run", "alone.json5"],
        ["compare", "alone.json5", "--vary", "tapi.bucket.capacity=20/s,40/s,60/s", "--vary", "tapi.incidents.0.for=1m,3m,5m", "--seeds", "2"],
    ]
    page = browser()
    made = 0
    for number, (command, *words) in enumerate(commands):
        seed = [] if "--seeds" in words else ["--seed", "1"]
        out = folder / f"hostile-{number}"
        ended = subprocess.run([fleetsim, command, *words, *seed, "--out", out], cwd=folder, capture_output=True, text=True)
        for file in sorted(out.rglob("*.html")) + sorted(out.rglob("*.svg")):
            page.get(file.as_uri())
            title = page.execute_script("return document.title")
            assert title != "owned", command
            for element in page.find_elements(By.CSS_SELECTOR, "[onmouseover], [onerror], [onload]"):
                raise AssertionError((command, element.get_attribute("outerHTML")))
            log = [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"]
            assert log == [], (command, log)
            made += 1
        assert out.exists(), (command, ended.stderr)
    page.quit()
    assert made >= 6, made
    return made


def main():
    fleetsim = str(pathlib.Path(sys.argv[1]).resolve())
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "s.json5").write_text(SCENARIO)
        subprocess.run(
            [fleetsim, "compare", "s.json5", "--explore", "--jitter", ",".join(JITTERS), "--vary", "tapi.bucket.capacity=" + ",".join(CAPACITIES),
             "--out", "o", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with open(folder / "o/summary.csv") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 8
        url = (folder / "o/explore.html").as_uri()

        def expected(jitter, capacity):
            return float(rows[JITTERS.index(jitter) * 4 + CAPACITIES.index(capacity)]["recovery_s"])

        def data_of(name):
            return next(float(row["recovery_s"]) for row in rows if row["run"] == name)

        page = browser()

        def shown():
            """Name and recovery, in seconds, of the rows of the figures."""
            found = page.execute_script(
                "return shown().map(e => [data.runs[e.run].name, data.runs[e.run].values[data.metrics.findIndex(m => m.name === 'recovery_s')]])")
            names = [row.text for row in page.find_elements(By.CSS_SELECTOR, "#metrics tbody th")]
            assert [name.split(": ")[-1] for name in names] == [name for name, _ in found], names
            return found

        def picture(name):
            if pictures:
                pictures.mkdir(parents=True, exist_ok=True)
                page.save_screenshot(str(pictures / name))

        page.get(url)
        slider = page.find_element(By.CSS_SELECTOR, "input[type=range]")
        choice = Select(page.find_element(By.CSS_SELECTOR, "select"))
        def verdict():
            return page.find_element(By.ID, "verdict").text, page.find_element(By.ID, "against").text

        # It opens on the scenario's own values; a button leads to the best run, and each cell of the map to its run.
        assert abs(shown()[0][1] - expected("additive:10", "30/s")) <= 0.5
        assert slider.get_attribute("aria-valuetext") == "30/s" and verdict()[1] == "This run: today itself."
        assert len(page.find_elements(By.CSS_SELECTOR, "#map rect")) == 8
        picture("today.png")
        page.find_element(By.ID, "best").click()
        best = page.execute_script("return data.runs[data.best].name")
        assert shown()[0][0] == best and data_of(best) == min(float(row["recovery_s"]) for row in rows)
        # Twice the capacity: the endpoint is well in a third of the time.
        assert verdict()[1] == "This run: better than today." and verdict()[0].startswith("Caught up after "), verdict()
        page.find_element(By.CSS_SELECTOR, "#map rect[data-cell='0']").click()
        assert abs(shown()[0][1] - expected("additive:10", "20/s")) <= 0.5
        assert verdict()[1] == "This run: worse than today.", verdict()
        # Were the axis shorter, the peaks beyond it would be marked with their height.
        marks = page.execute_script(
            "const old = LIMITS[1]; LIMITS[1] = 20; drawCharts();"
            "const marks = [...document.querySelectorAll('#charts text.clipped title')].map(mark => mark.textContent);"
            "LIMITS[1] = old; drawCharts(); return marks")
        assert marks and all(mark.endswith("requests/s") for mark in marks), marks
        page.find_element(By.ID, "today").click()
        assert abs(shown()[0][1] - expected("additive:10", "30/s")) <= 0.5
        page.execute_script("location.hash = '#settings.backoffConfig.jitterStrategy=additive%3A10&tapi.bucket.capacity=20%2Fs'")
        WebDriverWait(page, 5).until(lambda _: slider.get_attribute("aria-valuetext") == "20/s")
        assert abs(shown()[0][1] - expected("additive:10", "20/s")) <= 0.5
        first = page.find_element(By.CSS_SELECTOR, "#charts path[data-run]").get_attribute("d")

        # By keyboard: the slider moves, and the charts and the address follow.
        slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        assert slider.get_attribute("aria-valuetext") == "40/s"
        assert abs(shown()[0][1] - expected("additive:10", "40/s")) <= 0.5
        assert page.find_element(By.CSS_SELECTOR, "#charts path[data-run]").get_attribute("d") != first
        assert "tapi.bucket.capacity=40%2Fs" in page.current_url
        choice.select_by_visible_text("full")
        assert abs(shown()[0][1] - expected("full", "40/s")) <= 0.5

        # Two pins stand beside the choice, in figures and charts.
        page.find_element(By.ID, "pinA").click()
        slider.send_keys(Keys.END)
        page.find_element(By.ID, "pinB").send_keys(Keys.ENTER)
        slider.send_keys(Keys.HOME)
        runs = shown()
        assert [round(time) for _, time in runs] == [round(expected("full", c)) for c in ("20/s", "40/s", "60/s")], runs
        assert len(page.find_elements(By.CSS_SELECTOR, "#charts svg:first-of-type path[data-run]")) % 3 == 0
        picture("pinned.png")

        # The address is a link to all that.
        link = page.current_url
        page.get("about:blank")
        page.get(link)
        assert shown() == runs

        # The pointer and the arrow keys move a cursor that says the values.
        chart = page.find_element(By.CSS_SELECTOR, "#charts svg")
        ActionChains(page).move_to_element(chart).pause(0.3).perform()
        texts = [p.text for p in page.find_elements(By.CSS_SELECTOR, "#charts p")]
        assert all(" A " in text and " B " in text for text in texts) and "events" in texts[0], texts
        chart = page.find_element(By.CSS_SELECTOR, "#charts svg")
        page.execute_script("arguments[0].focus()", chart)
        page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        moved = page.find_element(By.CSS_SELECTOR, "#charts p").text
        assert moved and page.execute_script("return document.activeElement.dataset.chart") == "0"
        picture("cursor.png")
        assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []

        # Narrow: nothing wider than the window.
        page.set_window_size(600, 1300)
        assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        picture("narrow.png")
        page.quit()

        # Dark mode has another background.
        page = browser("--blink-settings=preferredColorScheme=0")
        page.get(url)
        dark = page.execute_script("return getComputedStyle(document.body).backgroundColor")
        picture("dark.png")
        page.quit()
        page = browser()
        page.get(url)
        assert page.execute_script("return getComputedStyle(document.body).backgroundColor") != dark
        page.quit()

        # Without script all runs are there as a table.
        page = browser(script=False)
        page.get(url)
        page.find_element(By.CSS_SELECTOR, "#all summary").click()
        assert len(page.find_elements(By.CSS_SELECTOR, "#all tbody tr")) == 8
        assert page.find_element(By.CSS_SELECTOR, "#all tbody tr th").text.startswith("additive:10")
        page.quit()
        pages = hostile(fleetsim, folder)
    print(json.dumps({"explorer": "passed", "runs": len(rows), "hostile pages": pages}))


main()
