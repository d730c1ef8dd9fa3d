import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress, gzip } from 'node:zlib'
import { type HttpRequest, isFromElsewhere } from '../../platform/http/index.ts'
import { text } from '../../platform/input/index.ts'
import { type HttpResponse, notFound, rawResponse, textResponse } from '../../platform/responses/index.ts'
import { rootOf } from './root.ts'
import { route } from './services.ts'

/** What `vite build` leaves: a page and the files it is made of. */
const BUILT = path.join(import.meta.dirname, '../../../web/dist')

const types: Readonly<Record<string, string>> = {
  '.bcmap': 'application/octet-stream',
  '.css': 'text/css; charset=utf-8',
  '.icc': 'application/vnd.iccprofile',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.pfb': 'application/octet-stream',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Content codings, best first, and how the names of their files end. */
const endings = { br: '.br', gzip: '.gz', identity: '' }
type Coding = keyof typeof endings

interface BuiltFile {
  /** Below the folder of the web app, with slashes. */
  readonly name: string
  readonly type: string
  /** Files in `assets` folders have content hashes in their names, so they are cached permanently. */
  readonly isForever: boolean
  /** Whether it is sent compressed to clients that accept it. */
  readonly isCompressed: boolean
}

interface Built {
  readonly page: string
  /** What loads the app of visitors: the tags of its page, with paths relative to that. */
  readonly visitorsTags: string
  readonly files: ReadonlyMap<string, BuiltFile>
}

let known: Promise<Built | undefined> | undefined
const contents = new Map<string, Promise<Buffer>>()

/** The page of the web app, one for all its addresses. */
export const webAppRoutes = [
  route({
    method: 'GET',
    path: '/',
    auth: 'none',
    summary: 'Redirects to the web app.',
    handle: () => rawResponse({ status: 302, headers: { Location: './app/' }, body: '' }),
  }),
  route({
    method: 'GET',
    path: '/app/',
    prefix: true,
    auth: 'none',
    summary: 'Sends the page of the web app, the same for all paths below.',
    async handle({ request }, { outbox, passwordLength }) {
      // The token of a sign-in by a client is in the fragment, so it is refused here, too.
      if (/^\/app\/client-login\b/.test(request.url) && isFromElsewhere(request)) {
        return rawResponse({ status: 302, headers: { Location: `${rootOf(request)}app/` }, body: '' })
      }
      const app = await built()
      return app === undefined
        ? notBuilt()
        : appPage(app, request, { sendsMail: outbox.isConfigured, passwordLength })
    },
  }),
  route({
    method: 'GET',
    path: '/smart-link/:token/',
    auth: 'none',
    summary: 'Redirects to the item of a permanent link in the web app.',
    params: { token: text() },
    handle: ({ params, request }) =>
      rawResponse({
        status: 302,
        headers: { Location: `${rootOf(request)}app/smart-link/${encodeURIComponent(params.token)}` },
        body: '',
      }),
  }),
]

/**
 * The files of the web app. They are scripts, styles, fonts and pictures, never documents, so they do without the headers that only concern
 * documents: on a slow line half a kilobyte for each file would delay the first list.
 */
export const webAppFileRoutes = [
  route({
    method: 'GET',
    path: '/web/',
    prefix: true,
    auth: 'none',
    summary: 'Sends a file of the web app.',
    async handle({ request }) {
      const app = await built()
      if (app === undefined) return notBuilt()
      const file = app.files.get(request.url.split('?', 1)[0]?.slice('/web/'.length) ?? '')
      if (file === undefined) throw notFound()
      return fileAnswer(file, request)
    },
  }),
]

/**
 * The font faces of the app of visitors, with URLs relative to `/pages/`, for pages that look alike. Empty without a built web app. They are taken
 * from its style sheet, because only the build knows the names of the files.
 */
export async function fontFaces(): Promise<string> {
  const app = await built()
  const sheets = [...(app?.files.keys() ?? [])].filter((name) =>
    /^visitors\/assets\/link-[\w-]+\.css$/.test(name),
  )
  const styles = await Promise.all(sheets.map(async (name) => String(await contentOf(name, 'identity'))))
  return styles
    .flatMap((style) => style.match(/@font-face\{[^}]*\}/g) ?? [])
    .join('\n')
    .replaceAll('url(./', 'url(../web/visitors/assets/')
}

function appPage(
  { page }: Built,
  request: HttpRequest,
  { sendsMail, passwordLength }: { sendsMail: boolean; passwordLength: number },
): HttpResponse {
  const { nonce, policy } = appPolicy()
  const body = page
    .replace('<base href="./" />', `<base href="${rootOf(request)}" />`)
    .replace(
      '<meta name="sends-mail" content="" />',
      sendsMail ? '<meta name="sends-mail" content="yes" />' : '',
    )
    .replace(
      '<meta name="password-length" content="" />',
      `<meta name="password-length" content="${passwordLength}" />`,
    )
    .replace('<meta name="csp-nonce" content="" />', `<meta name="csp-nonce" content="${nonce}" />`)
  return rawResponse({
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-cache',
    },
    body,
  })
}

/** What loads the app of visitors of links. Undefined without a built web app. */
export async function visitorsTags(): Promise<string | undefined> {
  return (await built())?.visitorsTags
}

/** The style sheets do not apply until the app takes the place of what the server rendered. */
function tagsOf(page: string): string {
  const tags = page.match(/<link [^>]*>|<script [^>]*><\/script>/g) ?? []
  return tags
    .map((tag) => tag.replace('rel="stylesheet"', 'rel="stylesheet" media="not all" data-app-styles'))
    .join('\n')
}

/** The content security policy of a page of the web app, with a nonce of its own. */
export function appPolicy(): { readonly nonce: string; readonly policy: string } {
  const nonce = randomBytes(16).toString('base64')
  return { nonce, policy: policyWith(nonce) }
}

/** Content security policy. Everything is loaded from this server, style elements that libraries create carry the nonce, and no page may frame the app. */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const PART_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The service worker loads no scripts, and talks to us only. */
const WORKER_POLICY = `default-src 'none'; connect-src 'self'; ${PART_POLICY}`

async function fileAnswer(
  { name, type, isForever, isCompressed }: BuiltFile,
  { headers }: HttpRequest,
): Promise<HttpResponse> {
  const accepted = headers['accept-encoding'] ?? ''
  const codings = isCompressed ? (['br', 'gzip'] as const) : []
  const coding = codings.find((one) => new RegExp(`\\b${one}\\b`).test(accepted))
  return rawResponse({
    headers: {
      'Content-Type': type,
      'Cache-Control': isForever ? 'public, max-age=31536000, immutable' : 'no-cache',
      // A worker has the policy of the file it begins with.
      'Content-Security-Policy': PART_POLICY,
      ...(name === 'service-worker.js' && {
        'Content-Security-Policy': WORKER_POLICY,
        // It is in `web/`, and works for `app/`.
        'Service-Worker-Allowed': '../app',
      }),
      Vary: 'Accept-Encoding',
      ...(coding !== undefined && { 'Content-Encoding': coding }),
    },
    body: await contentOf(name, coding ?? 'identity'),
  })
}

function notBuilt(): HttpResponse {
  return textResponse(503, 'The web app is not built here: start Carrel with npm start, which builds it.\n')
}

function built(): Promise<Built | undefined> {
  known ??= look().catch((error: NodeJS.ErrnoException) => {
    known = undefined
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return known
}

/** Allow-list of the files that are served. */
async function look(): Promise<Built> {
  const page = await readFile(path.join(BUILT, 'index.html'), 'utf8')
  const visitors = await readFile(path.join(BUILT, 'visitors/link.html'), 'utf8')
  const entries = await readdir(BUILT, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(BUILT, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
  const compressed = new Set(names.filter((name) => name.endsWith('.br')).map((name) => name.slice(0, -3)))
  const files = new Map<string, BuiltFile>()
  for (const name of new Set([...names, ...compressed])) {
    const type = types[path.extname(name)]
    if (type === undefined) continue
    files.set(name, {
      name,
      type,
      isForever: /^(?:visitors\/)?assets\//.test(name),
      isCompressed: compressed.has(name),
    })
  }
  return { page, visitorsTags: tagsOf(visitors), files }
}

function contentOf(name: string, coding: Coding): Promise<Buffer> {
  const file = name + endings[coding]
  const content = contents.get(file) ?? read(name, coding)
  contents.set(file, content)
  // Failed reads are not cached.
  content.catch(() => contents.delete(file))
  return content
}

/**
 * A package of a release has compressible files with Brotli only, because it would be twice as large with the others. They are converted when
 * a client asks for them, which takes some milliseconds once.
 */
async function read(name: string, coding: Coding): Promise<Buffer> {
  try {
    return await readFile(path.join(BUILT, name + endings[coding]))
  } catch (error) {
    if (coding === 'br' || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  if (coding === 'gzip') return promisify(gzip)(await contentOf(name, 'identity'))
  return promisify(brotliDecompress)(await contentOf(name, 'br'))
}
