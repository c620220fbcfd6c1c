// Addresses of this server for other programs, with settings to copy.

import { get } from "../api.js";
import { copied } from "../copying.js";
import { button, fill, h } from "../dom.js";
import { href } from "../route.js";
import { t } from "../strings.js";

/** Show the view. */
export async function show(root, base) {
  const local = await get("command");
  const server = location.origin;
  const name = base || "NAME";
  fill(
    root,
    h("div", { class: "column wide connect" },
      h("h1", {}, t("connect.title")),
      h("p", { class: "lead" }, t("connect.lead")),
      part(t("connect.rest"), t("connect.rest.about"), [curl(server, name)], [
        h("a", { href: href("api") }, t("connect.rest.all")),
        h("a", { href: "api/openapi.json" }, "openapi.json"),
      ]),
      part(t("connect.mcp"), t("connect.mcp.about"), [mcpByHttp(server), mcpByCommand(name, local)]),
      part(t("connect.studio"), t("connect.studio.about"), [studio()]),
      part(t("connect.chat"), t("connect.chat.about"), [langserve(server, name)]),
    ),
  );
}

function part(title, about, settings, links = []) {
  return h("section", { class: "card" },
    h("h2", {}, title),
    h("p", {}, about),
    settings.map((text) =>
      h("div", { class: "setting" },
        h("pre", { tabindex: "0", role: "region", "aria-label": title }, h("code", {}, text)),
        button(t("page.copy"), () => copied(text), { class: "small" }),
      ),
    ),
    links && links.length > 0 && h("p", { class: "links-row" }, links),
  );
}

const curl = (server, name) =>
  [
    `curl ${server}/api/knowledge-bases/${encodeURIComponent(name)}/ask \\`,
    "     -H 'Content-Type: application/json' \\",
    `     -d '{"question": "..."}'`,
  ].join("\n");

const mcpByHttp = (server) =>
  JSON.stringify({ mcpServers: { banyan: { type: "http", url: `${server}/mcp` } } }, null, 2);

/** Clients start the command anywhere and with few variables, so it names its file and its home folder. */
const mcpByCommand = (name, { command, home }) => {
  const env = home ? { env: { BANYAN_HOME: home } } : {};
  return JSON.stringify(
    { mcpServers: { banyan: { command: command || "banyan", args: ["mcp", "--kb", name], ...env } } },
    null,
    2,
  );
};

const langserve = (server, name) =>
  [
    "from langserve import RemoteRunnable",
    "",
    `chat = RemoteRunnable("${server}/chat/kb/${encodeURIComponent(name)}")`,
    `print(chat.invoke({"messages": [("user", "...")]}).content)`,
  ].join("\n");

/** The address is assembled here, to make it clear that nothing is fetched from it. */
const STUDIO = ["https:", "", "smith.langchain.com", "studio", "?baseUrl=http:", "", "127.0.0.1:2024"].join("/");
const studio = () => ["make studio", "", STUDIO].join("\n");
