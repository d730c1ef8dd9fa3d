import { z } from 'zod'
import {
  type CallContext,
  ClientError,
  copyEntries,
  EXIT,
  joinRemote,
  moveEntries,
  nameOfRemote,
  parentOfRemote,
  refuseRoot,
  restorePath,
} from '../client/index.ts'
import { defineTool, entryAt, inputs, pathOf, type Tool } from './tool.ts'

/** Characters of a file that is written. */
const MAX_CONTENT = 1_000_000

const adds = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const
const changes = { readOnlyHint: false, destructiveHint: true, openWorldHint: false } as const

/** Runs a change of a library. The result names the commit before it, to which `restore` can go back. */
async function changing<Changed extends object>(
  { carrel, signal }: CallContext,
  library: string,
  change: () => Promise<Changed>,
): Promise<Changed & { commit_before: string; commit: string }> {
  const before = await carrel.head(library, { signal })
  const document = await change()
  return { ...document, commit_before: before, commit: await carrel.head(library, { signal }) }
}

const changed = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({
    ...shape,
    commit_before: z.string().describe('The state before, to which restore goes back.'),
    commit: z.string().describe('The state after.'),
  })

const writeFile = defineTool({
  name: 'write_file',
  title: 'Write a text file',
  description:
    'Creates a text file, with missing folders, or replaces one. To replace, pass the id of the content that read_file returned: a file that changed since then is not replaced. The earlier content stays in the history.',
  input: z.object({
    library: inputs.library,
    path: inputs.path,
    content: z.string().max(MAX_CONTENT).describe('The whole content.'),
    replaces: inputs.id
      .optional()
      .describe('Id of the content to replace. Without it, the file must not exist yet.'),
  }),
  output: changed({ path: z.string(), id: z.string(), size: z.number() }),
  annotations: changes,
  async run({ library: wanted, path: text, content, replaces }, call) {
    const { carrel, libraries, signal } = call
    const { id: library } = await libraries.get(wanted)
    const path = pathOf(text)
    if (path === '/' || text.endsWith('/')) throw new ClientError('Name a file, not a folder.')
    const found = await carrel.find(library, path, { signal })
    if (found?.kind === 'dir') throw new ClientError(`${path} is a folder.`, EXIT.conflict)
    if (found !== undefined && replaces === undefined) {
      throw new ClientError(`${path} exists: read it, then pass its id as replaces.`, EXIT.conflict)
    }
    if (replaces !== undefined && found?.id !== replaces) {
      throw new ClientError(`${path} is not what replaces names: read it again.`, EXIT.conflict)
    }
    return changing(call, library, async () => {
      const folder = parentOfRemote(path)
      const file = { name: nameOfRemote(path), content: new TextEncoder().encode(content) }
      // Without `replaces` a file that was created meanwhile is kept, and this one gets a free name.
      const options = { replace: replaces !== undefined, signal }
      const { id, name, size } = await carrel.upload({ library, folder }, file, options)
      return { path: joinRemote(folder, name), id, size }
    })
  },
})

const placing = z.object({
  library: inputs.library,
  path: inputs.path,
  to: inputs.path.describe('The new path, or an existing folder, or a folder with a slash at its end.'),
  to_library: inputs.library.optional().describe('Default: the same library.'),
})

const place = ({ library, to, to_library }: z.output<typeof placing>) => ({
  library: to_library ?? library,
  path: pathOf(to),
  isFolder: to.endsWith('/'),
  isContent: false,
})

const move = defineTool({
  name: 'move',
  title: 'Move or rename',
  description: 'Moves or renames a file or folder. Nothing is replaced: a taken name is an error.',
  input: placing,
  output: changed({ moved: z.string() }),
  annotations: changes,
  async run(input, call) {
    const entry = await entryAt(call, input)
    return changing(call, entry.library, async () => {
      await moveEntries(call, [entry], place(input))
      return { moved: entry.path }
    })
  },
})

const copy = defineTool({
  name: 'copy',
  title: 'Copy',
  description: 'Copies a file or folder. Nothing is replaced: a taken name is an error.',
  input: placing,
  output: changed({ copied: z.string() }),
  annotations: adds,
  async run(input, call) {
    const entry = await entryAt(call, input)
    const { id: target } = await call.libraries.get(input.to_library ?? input.library)
    return changing(call, target, async () => {
      await copyEntries(call, [entry], place(input))
      return { copied: entry.path }
    })
  },
})

const deleteEntry = defineTool({
  name: 'delete',
  title: 'Delete',
  description:
    'Deletes a file, or a folder with all its content. It stays in the trash: restore brings it back.',
  input: z.object({ library: inputs.library, path: inputs.path }),
  output: changed({ deleted: z.string() }),
  annotations: changes,
  async run(input, call) {
    const entry = await entryAt(call, input)
    refuseRoot([entry])
    const { library, name, path } = entry
    return changing(call, library, async () => {
      await call.carrel.remove(
        { library, folder: parentOfRemote(path), names: [name] },
        { signal: call.signal },
      )
      return { deleted: path }
    })
  },
})

const makeFolder = defineTool({
  name: 'make_folder',
  title: 'Make a folder',
  description: 'Creates a folder with its missing parents. One that exists is left as it is.',
  input: z.object({ library: inputs.library, path: inputs.path }),
  output: changed({ folder: z.string() }),
  annotations: { ...adds, idempotentHint: true },
  async run({ library: wanted, path: text }, call) {
    const { carrel, libraries, signal } = call
    const { id: library } = await libraries.get(wanted)
    const path = pathOf(text)
    if (path === '/') throw new ClientError('Name a folder within the library.')
    if ((await carrel.find(library, path, { signal }))?.kind === 'file') {
      throw new ClientError(`${path} is a file.`, EXIT.conflict)
    }
    return changing(call, library, async () => {
      await carrel.createFolders(library, [path], { signal })
      return { folder: path }
    })
  },
})

const restore = defineTool({
  name: 'restore',
  title: 'Restore',
  description:
    'Brings a file or folder back from the trash, or to an earlier state as a new commit. commit_before of another call undoes it.',
  input: z.object({ library: inputs.library, path: inputs.path, at: inputs.at }),
  output: changed({ restored: z.string(), from: z.string().describe('The commit of the state.') }),
  annotations: changes,
  async run({ library: wanted, path: text, at }, call) {
    const { carrel, libraries, signal } = call
    const { id: library } = await libraries.get(wanted)
    const path = pathOf(text)
    // Only an owner may revert a library, and a limited token never acts as one.
    if (path === '/')
      throw new ClientError('Name a file or folder: a whole library is reverted in the web app.')
    return changing(call, library, async () => ({
      restored: path,
      from: await restorePath(carrel, library, path, at, signal),
    }))
  },
})

/** The tools that change libraries. Each change is a commit. */
export const writeTools: readonly Tool[] = [writeFile, move, copy, deleteEntry, makeFolder, restore]
