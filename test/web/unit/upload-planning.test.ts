import './browser-globals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scanDroppedFiles } from '../../../web/src/uploads/dropped-files.ts'
import { planUploads } from '../../../web/src/uploads/plan-uploads.ts'
import type { Upload } from '../../../web/src/uploads/queue.ts'

const target = { libraryId: 'L', libraryName: 'Library', path: '/in' }
const picked = (relativePath: string, content = 'x') => ({
  file: new File([content], relativePath.split('/').at(-1) ?? '', { lastModified: 1000 }),
  relativePath,
})

/** Answers listings of folders; a folder that is not named is a 404, `cut` fails as an unreachable server does. */
function serve(folders: Record<string, Record<string, 'file' | 'dir'> | 'cut' | number>): string[] {
  const asked: string[] = []
  globalThis.fetch = async (input) => {
    const path = new URL(input instanceof Request ? input.url : input).searchParams.get('p') ?? '/'
    asked.push(path)
    const found = folders[path]
    if (found === 'cut') {
      delete folders[path]
      throw new TypeError('fetch failed')
    }
    if (typeof found === 'number') return Response.json({ error_msg: 'no' }, { status: found })
    if (found === undefined) return Response.json({ error_msg: 'not found' }, { status: 404 })
    const dirent_list = Object.entries(found).map(([name, type]) => ({ name, type, parent_dir: path }))
    return Response.json({ user_perm: 'rw', dir_id: 'd', dirent_list })
  }
  return asked
}

const options = (answer?: 'keep-both' | 'replace' | 'skip', queued: Upload[] = []) => {
  const questions: string[][] = []
  return {
    questions,
    queued,
    ask: async ({ taken }: { taken: readonly { folder: string; name: string }[] }) => {
      questions.push(taken.map(({ folder, name }) => (folder === '' ? name : `${folder}/${name}`)))
      return answer
    },
    whenConnected: async () => undefined,
  }
}

const summary = (plan: Awaited<ReturnType<typeof planUploads>>) =>
  plan.map(({ upload }) => {
    const path = upload.folder === '' ? upload.name : `${upload.folder}/${upload.name}`
    return `${upload.failure?.kind ?? (upload.isFolder ? 'folder' : upload.replace ? 'replace' : 'add')} ${path}`
  })

describe('the plan of an upload', () => {
  it('adds files without a question where no name is taken', async () => {
    serve({ '/in': { other: 'file' } })
    const asked = options('skip')
    assert.deepEqual(
      summary(await planUploads(target, [picked('a.txt'), picked('f/b.txt')], ['empty'], asked)),
      ['folder empty', 'add a.txt', 'add f/b.txt'],
    )
    assert.deepEqual(asked.questions, [])
  })

  it('asks once about all files that exist, and follows the answer', async () => {
    const folders = { '/in': { 'a.txt': 'file', f: 'dir' }, '/in/f': { 'b.txt': 'file' } } as const
    const files = [picked('a.txt'), picked('f/b.txt'), picked('c.txt')]
    const answers = {
      'keep-both': ['add a (1).txt', 'add f/b (1).txt', 'add c.txt'],
      replace: ['replace a.txt', 'replace f/b.txt', 'add c.txt'],
      skip: ['add c.txt'],
    } as const
    for (const answer of ['keep-both', 'replace', 'skip'] as const) {
      serve({ ...folders })
      const asked = options(answer)
      assert.deepEqual(summary(await planUploads(target, files, [], asked)), answers[answer])
      assert.deepEqual(asked.questions, [['a.txt', 'f/b.txt']])
    }
  })

  it('is empty if the question was cancelled', async () => {
    serve({ '/in': { 'a.txt': 'file' } })
    assert.deepEqual(await planUploads(target, [picked('a.txt'), picked('b.txt')], [], options()), [])
  })

  it('reports names the server would refuse without sending anything', async () => {
    serve({ '/in': {} })
    assert.deepEqual(
      summary(await planUploads(target, [picked('a\\b.txt'), picked('ok.txt')], ['..'], options())),
      ['name a\\b.txt', 'add ok.txt'],
    )
  })

  it('treats uploads in the queue as existing files', async () => {
    serve({ '/in': {} })
    const [first] = await planUploads(target, [picked('a.txt')], [], options())
    assert.ok(first)
    const asked = options('keep-both', [first.upload])
    assert.deepEqual(summary(await planUploads(target, [picked('a.txt')], [], asked)), ['add a (1).txt'])
    const done = options('keep-both', [{ ...first.upload, state: 'done' }])
    assert.deepEqual(summary(await planUploads(target, [picked('a.txt')], [], done)), ['add a.txt'])
  })

  it('fails every file if the folder is gone or may not be read', async () => {
    serve({})
    assert.deepEqual(summary(await planUploads(target, [picked('a.txt')], [], options())), ['gone a.txt'])
    serve({ '/in': 403 })
    assert.deepEqual(summary(await planUploads(target, [picked('a.txt')], [], options())), [
      'permission a.txt',
    ])
  })

  it('waits for the connection and asks the server again', async () => {
    const asked = serve({ '/in': 'cut' })
    let waited = 0
    const plan = planUploads(target, [picked('a.txt')], [], {
      ...options(),
      whenConnected: async () => {
        waited += 1
        serve({ '/in': {} })
      },
    })
    assert.deepEqual(summary(await plan), ['add a.txt'])
    assert.equal(waited, 1)
    assert.ok(asked.length > 0)
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
    const { batches, ended } = scanDroppedFiles(transfer)
    const found = { files: [] as ReturnType<typeof picked>[], emptyFolders: [] as string[] }
    for await (const { files, emptyFolders } of batches) {
      found.files.push(...files)
      found.emptyFolders.push(...emptyFolders)
    }
    return { ...found, unreadable: await ended }
  }

  it('include all files of folders and the folders that are empty', async () => {
    const { files, emptyFolders, unreadable } = await drop(
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
    assert.deepEqual([emptyFolders, unreadable], [['f/g/empty'], 0])
  })

  it('count what the browser cannot read', async () => {
    const { files, unreadable } = await drop(
      fileEntry('/a', false),
      folderEntry('/f', [], false),
      fileEntry('/b'),
    )
    assert.deepEqual([files.length, unreadable], [1, 2])
  })
})
