import { fail } from '../../../base/errors.ts'
import { type Dirent, dirDirent } from '../../../base/objects/index.ts'
import { type LibraryPath, ROOT } from '../../../base/paths/index.ts'
import type { FaultResponse, HttpRequest } from '../../../platform/http/index.ts'
import { required } from '../../../platform/input/index.ts'
import type { OpenLink } from '../../../sharing/access/index.ts'
import { requiredPath, sentPathOrRoot } from '../common/readers.ts'
import { archiveName, rootsOf, sentNames } from '../transfers/archive-v21.ts'
import { archive, folder, visitor } from './link-visits.schema.ts'
import { folderBelow, visit } from './link-visits-v21.ts'
import { type LinkServices, route } from './services.ts'

const faults = {
  'link-not-found': ({ token }: { token: string }): FaultResponse => [404, `Share link ${token} not found.`],
}

/** Archives of folders and files below a share link. */
export const linkArchiveRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/share-link-zip-task/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Starts an archive of a folder of a share link.',
    compatibility: 'supported',
    query: { share_link_token: required(), path: sentPathOrRoot },
    faults,
    responses: () => archive,
    details: () => ({
      ...visitor,
      parameters: { ...folder, share_link_token: { description: 'The token of the link.' } },
    }),
    async handle({ query, request }, services) {
      const open = await openForArchive(services, request, query.share_link_token)
      const { path } = await folderBelow(open, query.path)
      return startArchive(services, open, [await folderEntry(open, path)])
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/share-link-zip-task/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Starts an archive of files and folders of a share link.',
    compatibility: 'supported',
    body: { token: required(), parent_dir: requiredPath(), dirents: sentNames },
    faults,
    responses: () => archive,
    details: () => ({
      ...visitor,
      parameters: {
        token: { description: 'The token of the link.' },
        parent_dir: { description: 'A folder below the link.' },
        dirents: { description: 'Names in that folder.' },
      },
    }),
    async handle({ body, request }, services) {
      const open = await openForArchive(services, request, body.token)
      const { path, stored } = await folderBelow(open, body.parent_dir)
      const parent = { path: open.pathOf(path), stored }
      const roots = await open.asSeen(() => rootsOf(open.library, parent, body.dirents))
      return startArchive(services, open, roots)
    },
  }),
]

async function openForArchive(
  services: LinkServices,
  request: HttpRequest,
  token: string,
): Promise<OpenLink> {
  const open = await visit(services, request, token, 'share')
  if (!open.canDownload) fail({ code: 'permission-denied' })
  return open
}

/** The entry of a folder below a link. The root of a library has no entry, so one is constructed. */
async function folderEntry(open: OpenLink, below: LibraryPath): Promise<Dirent> {
  const path = open.pathOf(below)
  const { info, tree } = open.library
  if (path === ROOT) return dirDirent({ id: tree.root, name: info.name, mtime: info.updatedAt })
  return (await tree.find(path)) ?? fail({ code: 'path-not-found', path: below, wanted: 'Folder' })
}

async function startArchive({ archives, now }: LinkServices, open: OpenLink, roots: readonly Dirent[]) {
  const options = { roots, name: archiveName(roots, now()), link: open.ticketLink }
  return { zip_token: await archives.start(open.originals, options) }
}
