// What the page's other scripts bring along, as far as the modules use it.

interface HtmxAsking {
  source?: Element;
  target?: string | Element;
  swap?: string;
  select?: string;
  values?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** https://htmx.org/api/ */
declare const htmx: {
  ajax(verb: string, path: string, asking: HtmxAsking): Promise<void>;
  process(element: Element): void;
};

/** https://plotly.com/javascript/plotlyjs-function-reference/ */
interface PlotlyLibrary {
  purge(holder: Element): void;
  react(holder: Element, data: object[], layout: object, options: object): Promise<unknown>;
}

declare const Plotly: PlotlyLibrary;

/** https://github.com/bubkoo/html-to-image */
declare const htmlToImage: {
  toPng(element: HTMLElement, options: object): Promise<string>;
  toSvg(element: HTMLElement, options: object): Promise<string>;
};

/** https://htmx.org/events/: a request that htmx makes, and what it does with the answer. */
interface HtmxRequest {
  elt: HTMLElement;
  target: HTMLElement | null;
  xhr: XMLHttpRequest;
  requestConfig: { elt: HTMLElement };
  headers: Record<string, string>;
  shouldSwap: boolean;
  isError: boolean;
  successful: boolean;
}

interface HtmxEvents {
  "htmx:afterRequest": CustomEvent<HtmxRequest>;
  "htmx:afterSettle": CustomEvent<HtmxRequest>;
  "htmx:afterSwap": CustomEvent<HtmxRequest>;
  "htmx:beforeSend": CustomEvent<HtmxRequest>;
  "htmx:beforeSwap": CustomEvent<HtmxRequest>;
  "htmx:configRequest": CustomEvent<HtmxRequest>;
  "htmx:load": CustomEvent<HtmxRequest>;
  "htmx:responseError": CustomEvent<HtmxRequest>;
  "htmx:sendError": CustomEvent<HtmxRequest>;
}

interface DocumentEventMap extends HtmxEvents {}
interface HTMLElementEventMap extends HtmxEvents {}
