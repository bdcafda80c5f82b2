// Search from disk. Browsers start no worker for a page that was opened as file://, so a hidden frame of the
// page takes its place: it runs the theme's search script, and events carry the messages. The name of this
// file tells the theme's offline plugin that it need not fetch such a script from elsewhere.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #frame = document.createElement("iframe");
    #inside;

    constructor(url) {
      super();
      const address = new URL(url, document.baseURI).href; // a frame has no address to start from
      this.#frame.hidden = true;
      this.#inside = new Promise((ready) => {
        // Some browsers replace the empty document once more after the frame was added: wait for the last one.
        this.#frame.addEventListener("load", () => {
          const inside = this.#frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inside.document.createElement("script");
          script.src = address;
          script.addEventListener("load", () => ready(inside));
          inside.document.head.append(script);
        }, { once: true });
      });
      document.body.append(this.#frame);
    }

    postMessage(data) {
      this.#inside.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
