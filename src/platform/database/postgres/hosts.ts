/** The servers of one database, of which one accepts writes. */
export class Hosts {
  /** A URL for each server. */
  readonly urls: readonly string[]
  #index = 0

  /** `postgres://user:password@a:5432,b/name` names several. `target_session_attrs` is not needed: only a server that accepts writes will do. */
  constructor(url: string) {
    this.urls = urlsOf(url)
  }

  /** The server to connect to. */
  get current(): string {
    return this.urls[this.#index] ?? ''
  }

  /** To be called with the URL of a server that cannot be reached or refuses writes. The next one is tried after it. */
  noteFailure(url: string): void {
    if (url === this.current) this.#index = (this.#index + 1) % this.urls.length
  }
}

function urlsOf(url: string): string[] {
  const [, before, hosts, after] = /^(\w+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  if (before === undefined || hosts === undefined || after === undefined) return [url]
  const rest = after.replace(/([?&])target_session_attrs=[^&#]*&?/, '$1').replace(/[?&]$/, '')
  return hosts.split(',').map((host) => `${before}${host}${rest}`)
}
