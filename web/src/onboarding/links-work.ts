/** Loopback hosts: on another machine they mean that machine. */
const LOCAL = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/

/**
 * Whether links of the server lead others back to it. `differs` means that the browser reached the server at
 * another address, `local` that the address is that of the machine itself.
 */
export function linksWork(baseUrl: string, browserUrl: string): 'work' | 'differs' | 'local' {
  if (baseUrl.replace(/\/$/, '') !== browserUrl.replace(/\/$/, '')) return 'differs'
  return URL.canParse(baseUrl) && LOCAL.test(new URL(baseUrl).hostname) ? 'local' : 'work'
}
