import { fail } from '../../base/errors.ts'
import { type LibraryPath, parsePath, ROOT } from '../../base/paths/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { HttpRequest, Route } from '../../platform/http/index.ts'
import { integer, type Reader, rawText } from '../../platform/input/index.ts'
import { type HttpResponse, rawResponse } from '../../platform/responses/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { archivePage, startArchive } from './archive-page.ts'
import { assetRoutes } from './assets.ts'
import { filePage } from './file-page.ts'
import { folderPage } from './folder-page.ts'
import { oldAddressRoutes } from './old-addresses.ts'
import { referenceRoutes } from './reference.ts'
import { rootOf } from './root.ts'
import { representationOf, sendFile } from './send-file.ts'
import { type PageServices, route } from './services.ts'
import { closedPage, uploadPage } from './upload-page.ts'
import { unlocked, visited } from './visit.ts'
import { webAppRoutes } from './web-app.ts'

const params = { token: rawText() }
const wanted = { dl: rawText(), raw: rawText() }

/** Text without half characters; what is too long to be a password counts as none. */
const typed: Reader<string> = (fields, name) => fields.text(name)?.slice(0, 1024).toWellFormed() ?? ''

/** Where below a shared folder; undefined for what cannot name anything. */
const below: Reader<LibraryPath | undefined> = (fields, name) => parsePath(fields.text(name) ?? ROOT)

const filePageRoutes = [
  route({
    method: 'GET',
    path: '/f/:token/',
    auth: 'none',
    summary: 'Shows a shared file; `dl=1` and `raw=1` redirect to its bytes.',
    params,
    query: wanted,
    async handle({ params: { token = '' }, query, request }, services) {
      const representation = representationOf(query)
      return visited(
        services,
        { token, request, kind: 'share', wantsBytes: representation !== 'page' },
        async (open) => {
          if (open.link.isDir) return redirect(`${request.baseUrl}/d/${token}/`)
          const found = (await open.findFile(ROOT)) ?? notThere()
          if (representation !== 'page') return sendFile(services, request, open, found, representation)
          await countView(services, request, open)
          return filePage(services, request, open, found)
        },
      )
    },
  }),
  passwordRoute('/f/:token/', 'share', 'Receives the password of a shared file.'),
]

const folderPageRoutes = [
  route({
    method: 'GET',
    path: '/d/:token/',
    auth: 'none',
    summary: 'Shows a shared folder, or one below it.',
    params,
    query: { p: below, page: integer({ default: 1, min: 1, lenient: true }) },
    async handle({ params: { token = '' }, query, request }, services) {
      return visited(services, { token, request, kind: 'share' }, async (open) => {
        if (!open.link.isDir) return redirect(`${request.baseUrl}/f/${token}/`)
        const path = query.p ?? notThere()
        const { dir } = (await open.findDir(path)) ?? notThere()
        if (path === ROOT && query.page === 1) await countView(services, request, open)
        return folderPage(services, request, open, { below: path, dir, page: query.page })
      })
    },
  }),
  passwordRoute('/d/:token/', 'share', 'Receives the password of a shared folder.'),
  route({
    method: 'GET',
    path: '/d/:token/files/',
    auth: 'none',
    summary: 'Shows a file of a shared folder; `dl=1` and `raw=1` redirect to its bytes.',
    params,
    query: { p: below, ...wanted },
    async handle({ params: { token = '' }, query, request }, services) {
      const representation = representationOf(query)
      return visited(
        services,
        { token, request, kind: 'share', wantsBytes: representation !== 'page' },
        async (open) => {
          const path = query.p ?? notThere()
          const found = (open.link.isDir ? await open.findFile(path) : undefined) ?? notThere()
          if (representation !== 'page') return sendFile(services, request, open, found, representation)
          return filePage(services, request, open, found, path)
        },
      )
    },
  }),
  passwordRoute(
    '/d/:token/files/',
    'share',
    'Receives the password of a shared folder on the page of one of its files.',
  ),
  route({
    method: 'POST',
    path: '/d/:token/archive/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Starts an archive of a shared folder, or of one below it, for a browser without scripts.',
    params,
    query: { p: below },
    async handle({ params: { token = '' }, query, request }, services) {
      return visited(
        services,
        { token, request, kind: 'share', wantsBytes: true, unlockedAt: `${rootOf(request)}d/${token}/` },
        (open) => startArchive(services, request, open, query.p ?? notThere()),
      )
    },
  }),
  route({
    method: 'GET',
    path: '/d/:token/archive/',
    auth: 'none',
    summary: 'Waits for an archive of a shared folder and redirects to it.',
    params,
    query: { task: rawText() },
    async handle({ params: { token = '' }, query, request }, services) {
      return visited(
        services,
        { token, request, kind: 'share', wantsBytes: true, unlockedAt: `${rootOf(request)}d/${token}/` },
        async (open) => {
          if (!open.canDownload) fail({ code: 'permission-denied' })
          return archivePage(services, request, query.task ?? '')
        },
      )
    },
  }),
]

const uploadPageRoutes = [
  route({
    method: 'GET',
    path: '/u/d/:token/',
    auth: 'none',
    summary: 'Shows the page of an upload link.',
    params,
    async handle({ params: { token = '' }, request }, services) {
      return visited(services, { token, request, kind: 'upload' }, async (open) => {
        if (open.isClosed) return closedPage(services, request, open)
        if (!open.canUpload) fail({ code: 'permission-denied' })
        await countView(services, request, open)
        return uploadPage(services, request, open)
      })
    },
  }),
  passwordRoute('/u/d/:token/', 'upload', 'Receives the password of an upload link.'),
]

function passwordRoute(path: string, kind: 'share' | 'upload', summary: string) {
  return route({
    method: 'POST',
    path,
    auth: 'none',
    summary,
    params,
    body: { password: typed },
    handle: ({ params: { token = '' }, body, request }, services) =>
      unlocked(services, { token, request, kind }, body.password),
  })
}

/** The pages links lead to, the API reference, and the web app. */
export const pageRoutes: readonly Route<Account, PageServices>[] = [
  ...filePageRoutes,
  ...folderPageRoutes,
  ...uploadPageRoutes,
  ...assetRoutes,
  ...referenceRoutes,
  ...oldAddressRoutes,
  ...webAppRoutes,
]

async function countView({ links }: PageServices, { method }: HttpRequest, open: OpenLink): Promise<void> {
  if (method === 'GET') await links.countView(open)
}

function redirect(location: string): HttpResponse {
  return rawResponse({ status: 302, headers: { Location: location, 'Cache-Control': 'no-store' }, body: '' })
}

function notThere(): never {
  return fail({ code: 'path-not-found', path: '', wanted: 'Item' })
}
