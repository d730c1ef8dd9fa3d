import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { bundleServer, bundleTestProgram } from '../../bin/test-bundle.ts'

const project = path.join(import.meta.dirname, '../..')

describe('the bundle that tests start servers from', () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'carrel-bundle-'))
    mkdirSync(path.join(root, 'bin'))
    for (const name of ['hand-over.cjs', 'node-flags.cjs', 'bundle-entries.ts', 'test-bundle.ts']) {
      copyFileSync(path.join(project, 'bin', name), path.join(root, 'bin', name))
    }
    write('src/main.mjs', "import { run } from './programs/cli/run.ts'\nrun()\n")
    write(
      'src/programs/cli/run.ts',
      "import { word } from './word.ts'\nexport const run = () => console.log(word)\n",
    )
    write('src/programs/cli/word.ts', "export const word: string = 'first'\n")
  })
  afterEach(() => rmSync(root, { recursive: true }))

  it('is used again while no source changes', async () => {
    const first = await bundleServer(root)
    assert.equal(outputOf(first.main), 'first\n')
    assert.ok(existsSync(first.run))
    assert.deepEqual(await bundleServer(root), first)
  })

  it('is another one as soon as a source changes', async () => {
    const first = await bundleServer(root)
    write('src/programs/cli/word.ts', "export const word: string = 'other'\n")
    const second = await bundleServer(root)
    assert.notEqual(second.main, first.main)
    assert.equal(outputOf(second.main), 'other\n')
    // A run that began before the change keeps its own.
    assert.equal(outputOf(first.main), 'first\n')
  })

  it('starts threads from the bundle, and finds other files where the source does', async () => {
    write(
      'src/programs/cli/run.ts',
      `import { Worker } from 'node:worker_threads'
       export function run(): void {
         const place: string = import.meta.dirname
         new Worker(new URL('./thread.ts', import.meta.url), { workerData: place })
       }`,
    )
    write(
      'src/programs/cli/thread.ts',
      "import { workerData } from 'node:worker_threads'\nconsole.log(`${workerData} ${import.meta.url}`)\n",
    )
    const { main } = await bundleServer(root)
    rmSync(path.join(root, 'src/programs/cli/thread.ts'))
    assert.equal(
      outputOf(main),
      `${path.join(root, 'src/programs/cli')} file://${path.join(root, 'src/programs/cli/thread.ts')}\n`,
    )
  })

  it('is made for a program of a test, too', async () => {
    write(
      'test/child.ts',
      "import { word } from '../src/programs/cli/word.ts'\nimport { end } from './end.ts'\nconsole.log(word + end)\n",
    )
    write('test/end.ts', "export const end: string = '!'\n")
    const file = await bundleTestProgram(root, 'test/child.ts', ['test/end.ts'])
    rmSync(path.join(root, 'test'), { recursive: true })
    assert.equal(outputOf(file), 'first!\n')
  })

  it('refuses a file that its hash does not contain', async () => {
    write('other.ts', "export const word = 'elsewhere'\n")
    write('src/programs/cli/word.ts', "export { word } from '../../../other.ts'\n")
    await assert.rejects(bundleServer(root), /other\.ts, which is not part of its hash/)
  })

  function write(file: string, text: string): void {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), text)
  }
})

function outputOf(file: string): string {
  return execFileSync(process.execPath, [file], { encoding: 'utf8' })
}
