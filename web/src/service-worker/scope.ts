/** What a service worker sees of the browser. The types of the DOM library are those of pages. */

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}
export interface FetchEvent extends ExtendableEvent {
  readonly request: Request
  readonly preloadResponse: Promise<Response | undefined>
  respondWith(response: Promise<Response>): void
}
interface Scope {
  readonly registration: {
    readonly scope: string
    readonly navigationPreload?: { enable(): Promise<void> }
  }
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void
  addEventListener(type: 'message', listener: (event: MessageEvent<unknown>) => void): void
}

export const worker = globalThis as unknown as Scope
/** The root of the site. The scope is `app` below it. */
export const siteRoot = new URL('./', worker.registration.scope)
export const PAGE = new URL('app/', siteRoot).href
