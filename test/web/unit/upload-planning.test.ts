import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scanDroppedFiles } from '../../../web/src/uploads/dropped-files.ts'
import type { Listed, Network } from '../../../web/src/uploads/network.ts'
import { newUpload, planUploads } from '../../../web/src/uploads/plan-uploads.ts'
import type { Upload } from '../../../web/src/uploads/queue.ts'
import type { PickedFile } from '../../../web/src/uploads/uploads.ts'

const target = { libraryId: 'L', libraryName: 'Library', path: '/in' }
const picked = (relativePath: string, content = 'x') => ({
  file: new File([content], relativePath.split('/').at(-1) ?? '', { lastModified: 1000 }),
  relativePath,
})

/** Answers listings of folders; `cut` fails as an unreachable server does, a number is a status. */
let folders: Record<string, Record<string, 'file' | 'dir'> | 'cut' | number> = {}
let listed: string[] = []

function serve(served: typeof folders): void {
  folders = { ...served }
  listed = []
}

const network = {
  async list(_libraryId: string, path: string): Promise<readonly Listed[] | undefined> {
    listed.push(path)
    const found = folders[path]
    if (found === 'cut' || typeof found === 'number') {
      throw Object.assign(new Error('no'), { status: found === 'cut' ? 0 : found })
    }
    return found && Object.entries(found).map(([name, type]) => ({ name, type, mtime: 0 }))
  },
} as unknown as Network

const options = (answer?: 'keep-both' | 'replace' | 'skip', queued: Upload[] = []) => {
  const questions: string[][] = []
  return {
    network,
    questions,
    queued,
    ask: async ({ taken }: { taken: readonly { folder: string; name: string }[] }) => {
      questions.push(taken.map(({ folder, name }) => (folder === '' ? name : `${folder}/${name}`)))
      return answer
    },
    whenConnected: async () => undefined,
  }
}

/** Plans found files and empty folders, and says what becomes of each. Skipped ones are left out. */
async function planned(
  found: readonly (ReturnType<typeof picked> | string)[],
  asked: Parameters<typeof planUploads>[2],
): Promise<string[]> {
  const uploads = found.map((one) => newUpload(target, one, 'drop', 1))
  const bad = uploads.filter(({ state }) => state === 'failed')
  const good = uploads.filter(({ state }) => state === 'waiting')
  const decided = await planUploads(target, good, asked)
  return [
    ...bad.map(({ failure, name }) => `${failure?.kind} ${name}`),
    ...decided.flatMap(([{ isFolder, ...upload }, decision]) => {
      if (decision === undefined) return []
      if ('kind' in decision) return [`${decision.kind} ${upload.name}`]
      const path = decision.folder === '' ? decision.name : `${decision.folder}/${decision.name}`
      return [`${isFolder ? 'folder' : decision.replace ? 'replace' : 'add'} ${path}`]
    }),
  ]
}

describe('the plan of an upload', () => {
  it('adds files without a question where no name is taken', async () => {
    serve({ '/in': { other: 'file' } })
    const asked = options('skip')
    assert.deepEqual(await planned(['empty', picked('a.txt'), picked('f/b.txt')], asked), [
      'folder empty',
      'add a.txt',
      'add f/b.txt',
    ])
    assert.deepEqual(asked.questions, [])
  })

  it('asks once about all files that exist, and follows the answer', async () => {
    const there = { '/in': { 'a.txt': 'file', f: 'dir' }, '/in/f': { 'b.txt': 'file' } } as const
    const files = [picked('a.txt'), picked('f/b.txt'), picked('c.txt')]
    const answers = {
      'keep-both': ['add a (1).txt', 'add f/b (1).txt', 'add c.txt'],
      replace: ['replace a.txt', 'replace f/b.txt', 'add c.txt'],
      skip: ['add c.txt'],
    } as const
    for (const answer of ['keep-both', 'replace', 'skip'] as const) {
      serve(there)
      const asked = options(answer)
      assert.deepEqual(await planned(files, asked), answers[answer])
      assert.deepEqual(asked.questions, [['a.txt', 'f/b.txt']])
    }
  })

  it('is empty if the question was cancelled', async () => {
    serve({ '/in': { 'a.txt': 'file' } })
    assert.deepEqual(await planned([picked('a.txt'), picked('b.txt')], options()), [])
  })

  it('reports names the server would refuse without sending anything', async () => {
    serve({ '/in': {} })
    assert.deepEqual(await planned([picked('a\\b.txt'), picked('ok.txt'), '..'], options()), [
      'name a\\b.txt',
      'name ..',
      'add ok.txt',
    ])
  })

  it('treats uploads in the queue as existing files', async () => {
    serve({ '/in': {} })
    const first = { ...newUpload(target, picked('a.txt'), 'drop', 1), isPlanned: true }
    const asked = options('keep-both', [first])
    assert.deepEqual(await planned([picked('a.txt')], asked), ['add a (1).txt'])
    const done = options('keep-both', [{ ...first, state: 'done' }])
    assert.deepEqual(await planned([picked('a.txt')], done), ['add a.txt'])
  })

  it('fails every file if the folder is gone or may not be read', async () => {
    serve({})
    assert.deepEqual(await planned([picked('a.txt')], options()), ['gone a.txt'])
    serve({ '/in': 403 })
    assert.deepEqual(await planned([picked('a.txt')], options()), ['permission a.txt'])
  })

  it('waits for the connection and asks the server again', async () => {
    serve({ '/in': 'cut' })
    let waited = 0
    const plan = planned([picked('a.txt')], {
      ...options(),
      whenConnected: async () => {
        waited += 1
        serve({ '/in': {} })
      },
    })
    assert.deepEqual(await plan, ['add a.txt'])
    assert.equal(waited, 1)
    assert.deepEqual(listed, ['/in'])
  })
})

describe('dropped files', () => {
  const fileEntry = (fullPath: string, isReadable = true) => ({
    isFile: true,
    fullPath,
    file: (resolve: (file: File) => void, reject: (error: Error) => void) =>
      isReadable ? resolve(new File(['x'], fullPath.split('/').at(-1) ?? '')) : reject(new Error('gone')),
  })
  const folderEntry = (fullPath: string, children: object[], isReadable = true) => ({
    isFile: false,
    fullPath,
    createReader() {
      const pages = [children.slice(0, 2), children.slice(2), []].filter(
        (page, n) => page.length > 0 || n === 2,
      )
      return {
        readEntries: (resolve: (entries: object[]) => void, reject: (error: Error) => void) =>
          isReadable ? resolve(pages.shift() ?? []) : reject(new Error('denied')),
      }
    },
  })
  const drop = async (...entries: object[]) => {
    const items = entries.map((entry) => ({
      kind: 'file',
      getAsFile: () => null,
      webkitGetAsEntry: () => entry,
    }))
    const transfer = { items: [...items, { kind: 'string' }] } as unknown as DataTransfer
    const { batches } = scanDroppedFiles(transfer)
    const found = { files: [] as PickedFile[], emptyFolders: [] as string[] }
    for await (const { files, emptyFolders } of batches) {
      found.files.push(...files)
      found.emptyFolders.push(...emptyFolders)
    }
    return found
  }

  it('include all files of folders and the folders that are empty', async () => {
    const { files, emptyFolders } = await drop(
      fileEntry('/a.txt'),
      folderEntry('/f', [
        fileEntry('/f/1'),
        fileEntry('/f/2'),
        fileEntry('/f/3'),
        folderEntry('/f/g', [folderEntry('/f/g/empty', [])]),
      ]),
    )
    assert.deepEqual(
      files.map(({ relativePath }) => relativePath),
      ['a.txt', 'f/1', 'f/2', 'f/3'],
    )
    assert.deepEqual(emptyFolders, ['f/g/empty'])
  })

  it('include what the browser cannot read, without a file', async () => {
    const { files } = await drop(fileEntry('/a', false), folderEntry('/f', [], false), fileEntry('/b'))
    assert.deepEqual(
      files.map(({ relativePath, file }) => [relativePath, file === undefined]),
      [
        ['a', true],
        ['f', true],
        ['b', false],
      ],
    )
    const [first] = files.map((one) => newUpload(target, one, 'drop', 1))
    assert.equal(first?.failure?.kind, 'unreadable')
  })
})
