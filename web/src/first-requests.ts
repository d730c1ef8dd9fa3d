/**
 * A script of its own, which runs before the app is loaded. It requests the data of the first page at once, so that the data arrives
 * with the code that shows it. It imports nothing, because an import would be a further file to wait for.
 */

const root = document.documentElement

/** As `theme.ts` does later. Without it a dark page would begin light. */
function applyStoredTheme(): void {
  const theme = localStorage.getItem('carrel.theme')
  const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.dataset['theme'] = isDark ? 'dark' : 'light'
}

/** The calls of the page at a path of the app. */
function callsOf(path: string, query: URLSearchParams): string[] {
  const [, page, id = ''] = path.split('/')
  if (page === 'library' && /^[\w-]{36}$/.test(id)) {
    const folder = `/${(query.get('p') ?? '').split('/').filter(Boolean).join('/')}`
    const repo = `api/v2.1/repos/${id}/`
    return [repo, `${repo}dir/?${new URLSearchParams({ p: folder })}`]
  }
  return page === '' || page === undefined ? ['api/v2.1/repos/'] : []
}

/** Preloads the files that `data-preload` of this script lists for a page. */
function preloadFiles(path: string): void {
  const text = document.querySelector<HTMLScriptElement>('script[data-preload]')?.dataset['preload'] ?? '{}'
  const files = (JSON.parse(text) as Record<string, string[] | undefined>)[path.split('/')[1] ?? ''] ?? []
  for (const file of files) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.crossOrigin = ''
    link.href = file
    document.head.append(link)
  }
}

function start(): void {
  applyStoredTheme()
  const token = sessionStorage.getItem('carrel.token') ?? localStorage.getItem('carrel.token')
  if (token === null) return
  root.dataset['signedIn'] = ''
  const path = location.pathname.slice(new URL('app', document.baseURI).pathname.length)
  const headers = { Authorization: `Token ${token}`, Accept: 'application/json' }
  const calls = [...callsOf(path, new URLSearchParams(location.search)), 'api2/account/info/']
  const responses = new Map(
    calls.map((call) => {
      const { href } = new URL(call, document.baseURI)
      const response = fetch(href, { headers, credentials: 'omit' })
      // The consumer of the response sees the error. There may be none, so the rejection is handled here.
      response.catch(() => undefined)
      return [href, response]
    }),
  )
  globalThis.carrelFirstRequests = { token, responses }
  preloadFiles(path)
}

start()
