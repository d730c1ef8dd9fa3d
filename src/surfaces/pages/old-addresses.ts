import { type HttpRequest, isFromElsewhere, wantsPage } from '../../platform/http/index.ts'
import { text } from '../../platform/input/index.ts'
import { type HttpResponse, notFound, rawResponse } from '../../platform/responses/index.ts'
import { rootOf } from './root.ts'
import { route } from './services.ts'

/** Addresses of the web pages of other servers of this API, which users have in bookmarks, mails and wikis. */
const places: readonly [path: string, page: string][] = [
  ['/my-libs/', ''],
  ['/libraries/', ''],
  ['/shared-libs/', ''],
  ['/org/', ''],
  ['/dashboard/', 'activity'],
  ['/starred/', 'starred'],
  ['/share-admin-libs/', 'links'],
  ['/share-admin-folders/', 'links'],
  ['/share-admin-share-links/', 'links'],
  ['/share-admin-upload-links/', 'links'],
  ['/groups/', 'groups'],
  ['/profile/', 'account'],
  ['/accounts/login/', ''],
  ['/sys/', 'admin'],
]

/** Redirects old addresses to pages of the web app. A target is always below the app: it never contains input unescaped. */
export const oldAddressRoutes = [
  ...places.map(([path, page]) =>
    route({
      method: 'GET',
      path,
      prefix: true,
      auth: 'none',
      summary: 'Redirects an address of other servers to the web app.',
      handle: ({ request }) => toApp(request, page),
    }),
  ),
  route({
    method: 'GET',
    path: '/client-login/',
    auth: 'none',
    summary: 'Opens the web app with a token of `/api2/client-login/`, at a path of this server.',
    query: { token: text(), next: text() },
    handle: ({ query, request }) => toClientLogin(request, query),
  }),
  route({
    method: 'GET',
    path: '/client-sso/:token/',
    auth: 'none',
    summary: 'Opens the page that confirms the sign-in of a client, with a link of `/api2/client-sso-link/`.',
    params: { token: text() },
    handle: ({ params, request }, { deviceAuthorizations }) =>
      toFragment(request, 'app/device', deviceAuthorizations.userCodeOf(params.token)),
  }),
  route({
    method: 'GET',
    path: '/library/:repo_id/',
    prefix: true,
    auth: 'none',
    summary: 'Redirects the address of a folder on other servers to the web app.',
    params: { repo_id: text() },
    // The segment after the library is its name, and the path follows.
    handle: ({ params, request }) =>
      toApp(request, `library/${encodeURIComponent(params.repo_id)}`, pathAfter(request, 3)),
  }),
  route({
    method: 'GET',
    path: '/lib/:repo_id/file/',
    prefix: true,
    auth: 'none',
    summary: 'Redirects the address of a file on other servers to the web app.',
    params: { repo_id: text() },
    handle: ({ params, request }) =>
      toApp(request, `view/${encodeURIComponent(params.repo_id)}`, pathAfter(request, 3)),
  }),
]

/** The decoded path after `count` segments of the address; the root if it cannot be decoded. */
function pathAfter({ url }: HttpRequest, count: number): string {
  const [address = ''] = url.split('?', 1)
  const segments = address.split('/').slice(1 + count)
  try {
    return `/${segments.map(decodeURIComponent).join('/')}`.replace(/(?!^)\/+$/, '')
  } catch {
    return '/'
  }
}

/** Throws a refusal for callers that are no browsers. */
function toApp(request: HttpRequest, page: string, path = '/'): HttpResponse {
  if (!wantsPage(request.headers['accept'])) throw notFound()
  const query = path === '/' ? '' : `?p=${encodeURIComponent(path)}`
  return rawResponse({
    status: 302,
    headers: { Location: `${rootOf(request)}app/${page}${query}` },
    body: '',
  })
}

function toClientLogin(request: HttpRequest, { token, next }: { token: string; next: string }): HttpResponse {
  // The app checks `next` again, because anybody can write such an address.
  const query = isOwnPath(next) ? `?next=${encodeURIComponent(next)}` : ''
  return toFragment(request, `app/client-login${query}`, /^[0-9a-f]{32}$/.test(token) ? token : '')
}

/**
 * A secret is in the fragment, which browsers never send. A link on another site leads to the app without it: whoever made it could sign a
 * visitor in to their own account, or have a visitor confirm a sign-in of theirs.
 */
function toFragment(request: HttpRequest, page: string, secret: string): HttpResponse {
  if (!wantsPage(request.headers['accept'])) throw notFound()
  if (isFromElsewhere(request)) return toApp(request, '')
  const fragment = secret === '' ? '' : `#${secret}`
  const headers = { Location: `${rootOf(request)}${page}${fragment}`, 'Referrer-Policy': 'no-referrer' }
  return rawResponse({ status: 302, headers, body: '' })
}

/** A path of this server: two slashes, or a slash and a backslash, would begin the name of another one. */
function isOwnPath(next: string): boolean {
  return /^\/(?![/\\])[^\p{Cc}]*$/u.test(next)
}
