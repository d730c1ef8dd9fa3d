import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { SIDE } from './export-history.ts'
import { ExportError } from './export-report.ts'
import { git } from './fast-import.ts'

/** A file in a repository that is being filled. */
const UNFINISHED = 'carrel-unfinished'

/** Throws ExportError if the folder has a repository that no interrupted export has left behind. */
export async function checkRepository(folder: string): Promise<void> {
  const gitDir = path.join(folder, '.git')
  if ((await exists(gitDir)) && !(await exists(path.join(gitDir, UNFINISHED)))) {
    throw new ExportError(`${folder} already has a git repository: name another folder.`)
  }
}

/**
 * Creates the git repository of a folder, whose files are those of the newest commit. `fill` gets an empty repository. One that an interrupted
 * export has left behind is replaced. Throws ExportError.
 */
export async function createRepository(
  folder: string,
  fill: (gitDir: string) => Promise<void>,
): Promise<void> {
  await checkRepository(folder)
  const gitDir = path.join(folder, '.git')
  const mark = path.join(gitDir, UNFINISHED)
  if (await exists(gitDir)) await empty(gitDir)
  await mkdir(gitDir, { recursive: true })
  await writeFile(mark, '')
  await git(gitDir, ['init', '--quiet', '--template=', '--initial-branch=main'])
  await fill(gitDir)
  await git(gitDir, ['update-ref', '-d', SIDE])
  // Names that only Windows treats as special are valid here.
  await git(gitDir, ['config', 'core.protectNTFS', 'false'])
  const head = await git(gitDir, ['for-each-ref', 'refs/heads/main'])
  if (head !== '') await git(gitDir, ['reset', '--quiet', '--mixed'], folder)
  await rm(mark)
}

/** Deletes everything but the mark, so that a deletion that is interrupted can be repeated. */
async function empty(gitDir: string): Promise<void> {
  for (const name of await readdir(gitDir)) {
    if (name !== UNFINISHED) await rm(path.join(gitDir, name), { recursive: true, force: true })
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
