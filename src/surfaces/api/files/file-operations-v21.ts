import { parseCommitId } from '../../../base/objects/index.ts'
import { baseName, joinPath, parentOf, parseName, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { copy, createFile, move, type Placed, rename, revertFile } from '../../../libraries/edits/index.ts'
import { fileLocks, type Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { openDestination } from '../batch/destination.ts'
import { withFaultMessages } from '../common/fault-messages.ts'
import { libraryIdParam, operationOf, requiredPath, type SentPath, sentPath } from '../common/readers.ts'
import { fileAt, filePathText, folderAt, splitNewPath } from '../common/resolve-path.ts'
import { fileInfoToWire } from './entry-wire.ts'
import { changes, fileInfo } from './files.schema.ts'
import { type FileServices, route } from './services.ts'

const MAX_NAME_LENGTH = 255 // characters

interface Call {
  readonly user: Account
  readonly library: Library
  readonly sent: SentPath
  readonly newname: string | undefined
  readonly dst_repo: string | undefined
  readonly dst_dir: SentPath | undefined
  readonly commit_id: string | undefined
}

/** A file at its new path, and its library. */
interface Result extends Placed {
  readonly library: Library
  /** Just created: nobody holds a lock on it. */
  readonly isNew?: true
}

const operations = { create, rename: renameFile, move: moveFile, copy: copyFile }

const fileOperation = operationOf(
  ['create', 'rename', 'move', 'copy', 'revert'],
  "operation can only be 'create', 'rename', 'move', 'copy', 'convert' or 'revert'.",
)

export const fileOperationRoutesV21 = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Creates, renames, moves or copies a file, or reverts it to a commit.',
    compatibility: 'supported',
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath() },
    body: {
      operation: fileOperation,
      newname: rawText(),
      dst_repo: rawText(),
      dst_dir: sentPath,
      commit_id: rawText(),
    },
    responses: () => ({
      200: [
        json(fileInfo, 'The file.'),
        json(kinds.successFlag, 'With `operation=revert`, that it was done.'),
      ],
    }),
    details: () => ({
      errors: [409, 443],
      parameters: { ...changes, commit_id: { description: 'The commit to revert to, for `revert`.' } },
    }),
    async handle({ user, params, query, body }, services) {
      const library = await services.access.open(user, params.repo_id)
      const call = { user, library, sent: query.p, ...body }
      if (body.operation === 'revert') return revert(services, call)
      const result = await operations[body.operation](services, call)
      const lock = result.isNew ? undefined : await fileLocks.at(services.core, result.library, result.path)
      return fileInfoToWire(result.library.info.id, result, lock !== undefined)
    },
  }),
]

async function revert({ core, quotas }: FileServices, call: Call): Promise<{ success: true }> {
  const { library, sent } = call
  const commitId = parseCommitId(call.commit_id ?? '')
  if (commitId === undefined) throw errorMessage(400, 'commit_id invalid.')
  const editable = library.editable(parentOf(sent.path ?? ROOT))
  const missing = (): [number, string] => [404, `File ${filePathText(sent)} not found.`]
  await withFaultMessages({ 'path-not-found': missing }, () =>
    revertFile(core, editable, { commitId, path: sent.path }, (info) => quotas.roomLeft(info)),
  )
  return { success: true }
}

async function create(_services: FileServices, { library, sent }: Call): Promise<Result> {
  const { parent, name } = splitNewPath(sent)
  const { path } = await folderAt(library, parent)
  const editable = library.editable(path)
  if (name === undefined) throw errorMessage(400, 'name invalid.')
  return { library, isNew: true, ...(await createFile(editable, joinPath(path, name))).result }
}

async function renameFile({ core }: FileServices, call: Call): Promise<Result> {
  const { library } = call
  const newName = readNewName(call)
  const { path } = await fileAt(library, call.sent)
  const editable = library.editable(parentOf(path))
  return { library, ...(await rename(core, editable, path, newName)).result }
}

async function moveFile(services: FileServices, call: Call): Promise<Result> {
  const { library } = call
  if (!call.dst_repo) throw errorMessage(400, 'dst_repo invalid.')
  if (call.dst_dir === undefined) throw errorMessage(400, 'dst_dir invalid.')
  const { path } = await fileAt(library, call.sent)
  const destination = await openDestination(services, call.user, call.dst_repo, call.dst_dir)
  const source = library.editable(parentOf(path))
  const target = destination.library.editable(destination.path)
  const selection = { parent: parentOf(path), names: [baseName(path)] }
  const roomLeft = services.quotas.roomLeft.bind(services.quotas)
  return only(target, await move(services.core, source, selection, target, destination.path, roomLeft))
}

async function copyFile(services: FileServices, call: Call): Promise<Result> {
  const { library } = call
  if (!call.dst_repo) throw errorMessage(400, 'dst_repo_id invalid.')
  if (call.dst_dir === undefined) throw errorMessage(400, 'dst_dir invalid.')
  const { path } = await fileAt(library, call.sent)
  const destination = await openDestination(services, call.user, call.dst_repo, call.dst_dir)
  const target = destination.library.editable(destination.path)
  const selection = { parent: parentOf(path), names: [baseName(path)] }
  const roomLeft = services.quotas.roomLeft.bind(services.quotas)
  return only(target, await copy(services.core, library, selection, target, destination.path, roomLeft))
}

function only(library: Library, [placed]: readonly Placed[]): Result {
  if (placed === undefined) throw new Error('one file was asked for and none was placed')
  return { library, ...placed }
}

function readNewName({ sent, newname }: Call): string {
  if (!newname) throw errorMessage(400, 'newname invalid.')
  if (newname.length > MAX_NAME_LENGTH) throw errorMessage(400, 'newname is too long.')
  const name = parseName(newname)
  if (name === undefined) throw errorMessage(400, 'name invalid.')
  if (filePathText(sent).endsWith(`/${name}`)) throw errorMessage(400, 'The new name is the same to the old')
  return name
}
