import { baseName, joinPath, type LibraryPath, parentOf, parseName, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { copy, createFile, move, type Placed, rename } from '../../../libraries/edits/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { inOrigin } from '../../../libraries/registry/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import type { HttpRequest } from '../../../platform/http/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage, type HttpResponse, jsonResponse } from '../../../platform/responses/index.ts'
import { placed as placedSchema } from '../batch/batch.schema.ts'
import { type Destination, openDestination } from '../batch/destination.ts'
import { deniedMessage, withFaultMessages } from '../common/fault-messages.ts'
import { libraryIdParam, type SentPath, sentPath } from '../common/readers.ts'
import { entryAt, filePathText, splitNewPath } from '../common/resolve-path.ts'
import { encodePath } from '../common/wire-formats.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { reloaded } from '../folders/folder-listing.ts'
import { lenientFlag } from '../folders/listing-readers.ts'
import { placedToWire } from './entry-wire.ts'
import {
  changes,
  location as locationDescribed,
  reloaddir,
  reloaded as reloadedDescribed,
} from './files.schema.ts'
import { type FileServices, route } from './services.ts'

const MAX_NAME_LENGTH = 255 // characters

interface Call {
  readonly user: Account
  readonly library: Library
  readonly sent: SentPath
  readonly reload: boolean
  readonly body: Readonly<Record<'newname' | 'dst_repo', string | undefined>> & {
    dst_dir: SentPath | undefined
  }
  readonly request: HttpRequest
}

type Operation = 'rename' | 'create' | 'move' | 'copy'
type Run = (services: FileServices, call: Call) => Promise<HttpResponse>

const operations: Record<Operation, Run> = {
  rename: renameFile,
  create: createEmptyFile,
  move: moveFile,
  copy: copyFile,
}

export const fileOperationRoutesV2 = [
  route({
    method: 'POST',
    path: '/api2/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Renames, creates, moves or copies a file; renaming, moving and copying also work for folders.',
    compatibility: {
      result: 'different',
      note: 'Refuses locked files. Moving into the same folder changes nothing.',
    },
    callers: 'writers',
    sample: { query: { p: '/in.txt' }, form: { operation: 'rename', newname: 'x.txt' } },
    params: { repo_id: libraryIdParam },
    query: { p: sentPath, reloaddir: lenientFlag },
    body: { operation: rawText(), newname: rawText(), dst_repo: rawText(), dst_dir: sentPath },
    faults: olderLibraryNotFound,
    responses: () => ({
      200: [
        json(placedSchema, 'The copy.', locationDescribed),
        json(kinds.successWord, 'The file is already there.'),
        reloadedDescribed,
      ],
      201: json(kinds.successWord, 'The file was created.', locationDescribed),
      301: [
        json(kinds.successWord, 'The file was renamed.', locationDescribed),
        json(placedSchema, 'The file was moved.'),
      ],
    }),
    details: () => ({
      errors: [409, 443, 520],
      parameters: {
        p: { required: true },
        operation: { required: true, description: '`rename`, `create`, `move` or `copy`.' },
        ...changes,
        ...reloaddir,
      },
    }),
    async handle({ user, params, query, body, request }, services) {
      const operation = readOperation(body.operation)
      const words = operation ? deniedMessage(`You do not have permission to ${operation} file.`) : {}
      return withFaultMessages(words, async () => {
        const library = await services.access.open(user, params.repo_id)
        const sent = pathToChange(query.p)
        if (operation === undefined) {
          throw errorMessage(400, 'Operation can only be rename, create or move.')
        }
        const call = { user, library, sent, reload: query.reloaddir, body, request }
        return operations[operation](services, call)
      })
    },
  }),
]

async function renameFile(services: FileServices, call: Call): Promise<HttpResponse> {
  const { library, sent } = call
  const editable = library.editable(parentOf(sent.path ?? ROOT))
  const newName = readNewName(sent, call.body.newname)
  const failed = (): [number, string] => [520, `Failed to rename file: ${filePathText(sent)} not found.`]
  const placed = await withFaultMessages({ 'path-not-found': failed }, async () => {
    const { path } = await entryAt(library, sent)
    return (await rename(services.core, editable, path, newName)).result
  })
  return done(services, call, library, placed, { status: 301, body: 'success' })
}

async function createEmptyFile(services: FileServices, call: Call): Promise<HttpResponse> {
  const { library } = call
  const { parent, name } = splitNewPath(call.sent)
  const editable = library.editable(parent.path ?? ROOT)
  if (name === undefined) throw errorMessage(400, 'File name invalid.')
  const { path } = parent
  if (path === undefined) throw errorMessage(520, 'Failed to create file.')
  const words = { 'path-not-found': (): [number, string] => [520, 'Failed to create file.'] }
  const placed = await withFaultMessages(words, () => createFile(editable, joinPath(path, name)))
  return done(services, call, library, placed.result, { status: 201, body: 'success' })
}

async function moveFile(services: FileServices, call: Call): Promise<HttpResponse> {
  const { library, sent } = call
  const source = library.editable(parentOf(sent.path ?? ROOT))
  const destination = await readDestination(services, call)
  const { path } = await entryAt(library, sent)
  const target = destination.library.editable(destination.path)
  const parent = parentOf(path)
  if (isSamePlace(library, parent, target, destination.path)) return jsonResponse(200, 'success')
  const selection = { parent, names: [baseName(path)] }
  const roomLeft = services.quotas.roomLeft.bind(services.quotas)
  const [placed] = await move(services.core, source, selection, target, destination.path, roomLeft)
  return moved(services, call, destination, placed, 301)
}

async function copyFile(services: FileServices, call: Call): Promise<HttpResponse> {
  const { library, sent } = call
  const destination = await readDestination(services, call)
  const { path } = await entryAt(library, sent)
  const target = destination.library.editable(destination.path)
  const selection = { parent: parentOf(path), names: [baseName(path)] }
  const roomLeft = services.quotas.roomLeft.bind(services.quotas)
  const [placed] = await copy(services.core, library, selection, target, destination.path, roomLeft)
  return moved(services, call, destination, placed, 200)
}

function moved(
  services: FileServices,
  call: Call,
  { library }: Destination,
  placed: Placed | undefined,
  status: number,
): Promise<HttpResponse> {
  if (placed === undefined) throw new Error('one entry was asked for and none was placed')
  return done(services, call, library, placed, { status, body: placedToWire(library.info.id, placed) })
}

/** The listing of the folder if requested (`reloaddir`), otherwise the location of the entry. */
async function done(
  services: FileServices,
  { user, reload, request }: Call,
  library: Library,
  { path }: Placed,
  reply: { status: number; body: unknown },
): Promise<HttpResponse> {
  const { id } = library.info
  if (reload) return reloaded(services, await services.access.open(user, id), parentOf(path))
  const location = `${request.baseUrl}/api2/repos/${id}/file/?p=${encodePath(path)}`
  return jsonResponse(reply.status, reply.body, { Location: location })
}

/** Whether two folders are the same, also if one is seen through a view. */
function isSamePlace(one: Library, path: LibraryPath, other: Library, otherPath: LibraryPath): boolean {
  return one.info.key === other.info.key && inOrigin(one.info, path) === inOrigin(other.info, otherPath)
}

function readOperation(sent: string | undefined): Operation | undefined {
  const word = sent?.toLowerCase() ?? ''
  return Object.hasOwn(operations, word) ? (word as Operation) : undefined
}

function pathToChange(sent: SentPath | undefined): SentPath {
  if (sent?.text.startsWith('/') !== true || sent.path === ROOT) {
    throw errorMessage(400, 'Path is missing or invalid.')
  }
  return sent
}

function readNewName(sent: SentPath, newName: string | undefined): string {
  if (!newName) throw errorMessage(400, 'New name is missing')
  if (newName.length > MAX_NAME_LENGTH) throw errorMessage(400, 'New name is too long')
  const name = parseName(newName)
  if (name === undefined) throw errorMessage(400, 'File name invalid.')
  if (sent.path !== undefined && name === baseName(sent.path)) {
    throw errorMessage(409, 'The new name is the same to the old')
  }
  return name
}

function readDestination(services: FileServices, { user, body }: Call): Promise<Destination> {
  if (!body.dst_repo || body.dst_dir === undefined) throw errorMessage(400, 'Missing arguments.')
  return openDestination(services, user, body.dst_repo, body.dst_dir)
}
