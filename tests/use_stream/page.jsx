// A chat page around LangGraph's `useStream`, which shows of messages what agent-chat-ui shows: texts and tool calls.
import { useStream } from "@langchain/langgraph-sdk/react";
import { createRoot } from "react-dom/client";

const textOf = (content) => typeof content === "string" ? content
  : content.filter((block) => block.type === "text").map((block) => block.text).join(" ");

function Chat() {
  const thread = useStream({ apiUrl: location.origin, assistantId: "retrieval", messagesKey: "messages" });
  const ask = (event) => {
    event.preventDefault();
    const content = new FormData(event.target).get("question");
    thread.submit({ messages: [{ type: "human", content }] }, { streamMode: ["values"], streamSubgraphs: true });
  };
  return <main aria-busy={thread.isLoading}>
    <form onSubmit={ask}><input name="question" aria-label="Question" /></form>
    {thread.messages.map((message) => <article key={message.id} className={message.type}>
      {(message.tool_calls ?? []).map((call) => <code key={call.id}>{call.name} {JSON.stringify(call.args)}</code>)}
      <p>{textOf(message.content)}</p>
    </article>)}
    {thread.error ? <output>{String(thread.error)}</output> : null}
  </main>;
}

createRoot(document.body.appendChild(document.createElement("div"))).render(<Chat />);
