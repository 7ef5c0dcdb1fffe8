"""A headless browser. Tests that need one are skipped where Chromium, its driver or selenium are missing."""

import json
import shutil
from importlib.util import find_spec

import pytest

from sklearn_deid import read_corpus

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,900"
)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """One browser for all tests; its downloads lie in ``browser.downloads``."""
    if not (CHROMIUM and DRIVER and find_spec("selenium")):
        pytest.skip("needs Chromium, chromedriver and selenium")
    from selenium import webdriver

    downloads = tmp_path_factory.mktemp("downloads")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    options.set_capability("unhandledPromptBehavior", "accept")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield Page(driver, downloads)
    driver.quit()


@pytest.fixture
def page(chromium):
    """The browser with an empty log."""
    chromium.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": "file://", "storageTypes": "all"})
    chromium.driver.get("about:blank")
    chromium.driver.get_log("performance"), chromium.driver.get_log("browser")
    return chromium


class Page:
    """The review page as a reader uses it: clicks, keys, selections and the saved file."""

    def __init__(self, driver, downloads):
        self.driver, self.downloads = driver, downloads

    def open(self, path):
        self.driver.get(path.as_uri())
        return self

    def click(self, selector):
        self.driver.find_element("css selector", selector).click()
        return self

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)
        return self

    def text(self, selector):
        return self.driver.execute_script("return document.querySelector(arguments[0]).textContent", selector)

    def marks(self):
        """Texts and labels of the marked spans."""
        script = "return [...document.querySelectorAll('#note mark')].map((m) => [m.textContent, m.dataset.label])"
        return [tuple(pair) for pair in self.driver.execute_script(script)]

    def choose_label(self, label):
        from selenium.webdriver.support.ui import Select

        Select(self.driver.find_element("id", "label")).select_by_value(label)
        return self

    def select(self, word):
        """Select the first occurrence of a word in the note."""
        script = """
        const nodes = [], walker = document.createTreeWalker(document.getElementById('note'), NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) nodes.push(walker.currentNode);
        const at = nodes.map((node) => node.data).join('').indexOf(arguments[0]);
        const place = (offset) => { for (const node of nodes) { if (offset <= node.length) return [node, offset];
          offset -= node.length; } };
        getSelection().setBaseAndExtent(...place(at), ...place(at + arguments[0].length));
        return at;
        """
        assert self.driver.execute_script(script, word) >= 0
        return self

    def saved(self, name="reviewed.jsonl"):
        """Click on "Save file", and read the file."""
        from selenium.webdriver.support.ui import WebDriverWait

        file = self.downloads / name
        file.unlink(missing_ok=True)
        self.click("#save")
        # The browser first holds the name by an empty file.
        WebDriverWait(self.driver, 10).until(lambda _: file.exists() and file.stat().st_size)
        return read_corpus(file, "jsonl")

    def requests(self):
        """Addresses that the page has asked for."""
        rows = [json.loads(row["message"])["message"] for row in self.driver.get_log("performance")]
        return [row["params"]["request"]["url"] for row in rows if row["method"] == "Network.requestWillBeSent"]
