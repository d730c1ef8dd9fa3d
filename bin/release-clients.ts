import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Zippable, zipSync } from 'fflate'

// The clients of a release: the SDK as a package of npm, the Python client as a wheel and as sources.

/** Times in archives, so that the same sources give the same bytes. Zip knows no earlier year. */
const ARCHIVE_TIME = '1980-01-01T00:00:00Z'

/** Compiles the SDK and packs it. The generated types have to be there. */
export function packSdk(root: string, out: string): void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-sdk-'))
  try {
    for (const file of ['README.md', 'package.json'])
      cpSync(path.join(root, 'sdk', file), path.join(folder, file))
    cpSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
    run(process.execPath, [tsc, '-p', path.join(root, 'sdk'), '--outDir', path.join(folder, 'dist')], root)
    // It is compiled, and the package has no sources to compile.
    run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Packs the Python client. The generated calls and types have to be there. Its code is the same on all machines. */
export function packPython(root: string, out: string): void {
  const folder = path.join(root, 'sdk/python')
  const project = readFileSync(path.join(folder, 'pyproject.toml'), 'utf8')
  const field = (name: string) =>
    new RegExp(`^${name} = (?:\\{ text = )?"([^"]+)"`, 'm').exec(project)?.[1] ?? ''
  const version = field('version')
  const name = field('name').replaceAll('-', '_')
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${field('name')}`,
    `Version: ${version}`,
    `Summary: ${field('description')}`,
    `License: ${field('license')}`,
    `Requires-Python: ${field('requires-python')}`,
    'Description-Content-Type: text/markdown',
    '',
    readFileSync(path.join(folder, 'README.md'), 'utf8'),
  ].join('\n')
  const code = globSync('carrel_client/{*.py,py.typed}', { cwd: folder }).sort()
  const sources = new Map(code.map((file) => [file, readFileSync(path.join(folder, file))]))
  const licence = readFileSync(path.join(root, 'LICENSE'))

  const info = `${name}-${version}.dist-info`
  const wheel = new Map<string, Buffer>([
    ...sources,
    [`${info}/METADATA`, Buffer.from(metadata)],
    [`${info}/LICENSE`, licence],
    [
      `${info}/WHEEL`,
      Buffer.from('Wheel-Version: 1.0\nGenerator: carrel\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    ],
  ])
  wheel.set(`${info}/RECORD`, Buffer.from(recordOf(wheel, `${info}/RECORD`)))
  const zipped: Zippable = {}
  for (const [file, bytes] of wheel)
    zipped[file] = [bytes, { mtime: ARCHIVE_TIME, os: 3, attrs: 0o644 << 16 }]
  writeFileSync(path.join(out, `${name}-${version}-py3-none-any.whl`), zipSync(zipped, { level: 9 }))

  const top = `${name}-${version}`
  const unpacked = mkdtempSync(path.join(os.tmpdir(), 'carrel-python-'))
  try {
    const all = [...sources, ['PKG-INFO', Buffer.from(metadata)] as const, ['LICENSE', licence] as const]
    for (const [file, bytes] of all) {
      mkdirSync(path.dirname(path.join(unpacked, top, file)), { recursive: true })
      writeFileSync(path.join(unpacked, top, file), bytes)
    }
    for (const file of ['README.md', 'pyproject.toml'])
      cpSync(path.join(folder, file), path.join(unpacked, top, file))
    const same = [
      '--sort=name',
      `--mtime=${ARCHIVE_TIME}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=go=rX,u+rw',
    ]
    run('tar', [...same, '-czf', path.join(out, `${top}.tar.gz`), top], unpacked)
  } finally {
    rmSync(unpacked, { recursive: true, force: true })
  }
}

/** The list of files in a wheel, with their hashes. It has no hash of itself. */
function recordOf(files: ReadonlyMap<string, Buffer>, own: string): string {
  const lines = [...files].map(([file, bytes]) => {
    const hash = createHash('sha256').update(bytes).digest('base64url')
    return `${file},sha256=${hash},${bytes.length}`
  })
  return `${[...lines, `${own},,`].join('\n')}\n`
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? ''}${stdout}${stderr}`)
}
