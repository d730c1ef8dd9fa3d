import { parseName, toNfc } from '../../../base/paths/index.ts'
import { accountRequester, failIfBusy } from '../../../base/scheduling/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { ZipArchive, type ZipEntry } from '../../../libraries/unzip/index.ts'
import { list, map, optional, optionalText, required } from '../../../platform/input/index.ts'
import { openDestination } from '../batch/destination.ts'
import { libraryAt, pointInTime } from '../common/point-in-time.ts'
import { BATCH_BODY_BYTES, libraryIdParam, requiredPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { archiveEntry, moment } from './files.schema.ts'
import { route } from './services.ts'

/** Entries of one response. More would block the event loop while they are encoded (I10). */
const MAX_LISTED = 10_000
/** Characters of all names of one response. An archive of a few kilobytes can claim names of 64 KB. */
const MAX_LISTED_CHARACTERS = 2 ** 20

export const archiveFileRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/file/archive-entries/',
    auth: 'user',
    summary: 'Lists the entries of a zip archive, up to 10,000; as of `commit_id` or `at` if given.',
    compatibility: 'addition',
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath(), ...pointInTime },
    responses: () => ({
      200: json(
        kinds.record('ArchiveEntries', {
          id: kinds.objectId,
          entries: kinds.array(archiveEntry),
          total: kinds.count('The number of all entries. The list may be shorter.'),
        }),
        'The entries.',
      ),
    }),
    details: () => ({ errors: [422], parameters: moment }),
    async handle({ user, params, query, request }, services) {
      const library = await libraryAt(await services.access.open(user, params.repo_id), query)
      const { entry } = await fileAt(library, query.p)
      const key = await services.core.keys.keyFor(library)
      const listed = async () => {
        using archive = await ZipArchive.open(await library.content.open(entry.id, key))
        const entries = []
        let characters = 0
        for await (const one of archive.entries()) {
          characters += one.name.length
          if (entries.length === MAX_LISTED || characters > MAX_LISTED_CHARACTERS) break
          entries.push(entryToWire(one))
        }
        return { id: entry.id, entries, total: archive.entryCount }
      }
      const requester = accountRequester(user.key)
      return services.archiveListings.run(requester, listed, request.signal).catch(failIfBusy)
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/file/extract-archive/',
    auth: 'user',
    // A task would not be restricted to the scope of the token.
    scope: 'none',
    summary:
      'Extracts `names` in the folder `base` of a zip archive, or everything, into `dst_parent_dir` as a background task; `folder_name` creates a folder for it.',
    compatibility: 'addition',
    params: { repo_id: libraryIdParam },
    body: {
      p: requiredPath(),
      base: optionalText(),
      names: optional(list()),
      folder_name: optional(map(required(), parseName)),
      dst_repo_id: required(),
      dst_parent_dir: requiredPath(),
    },
    bodyLimit: BATCH_BODY_BYTES,
    responses: () => ({
      200: json(
        kinds.record('ExtractionTask', { task_id: kinds.text('The id of the background task.') }),
        'The task.',
      ),
    }),
    details: () => ({
      parameters: {
        p: { description: 'The path of the archive.' },
        base: { description: 'A folder in the archive. Default: its root.' },
        names: { description: 'Names in that folder. Default: all.' },
        folder_name: { description: 'Creates a folder of this name for the entries.' },
        dst_repo_id: { description: 'The id of the target library.' },
        dst_parent_dir: { description: 'The target folder.' },
      },
    }),
    async handle({ user, params, body }, services) {
      const source = await services.access.open(user, params.repo_id)
      const { path } = await fileAt(source, body.p)
      const destination = await openDestination(services, user, body.dst_repo_id, body.dst_parent_dir)
      const target = destination.library.editable(destination.path)
      const extraction = {
        base: toNfc(body.base ?? '')
          .split('/')
          .filter((name) => name !== ''),
        names: (body.names ?? []).map(toNfc),
        container: body.folder_name,
      }
      return {
        task_id: await services.copyMoveTasks.extract(source, path, extraction, target, destination.path),
      }
    },
  }),
]

function entryToWire({ name, segments, isDir, size, packedSize, mtime, refusal }: ZipEntry) {
  return {
    // The path under which it is extracted. An unsafe name is shown as it is and never extracted.
    path: segments?.join('/') ?? name,
    is_dir: isDir,
    size,
    packed_size: packedSize,
    mtime: mtime ?? 0,
    refusal: refusal ?? '',
  }
}
