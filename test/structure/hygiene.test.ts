import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

describe('the repository', () => {
  it('installs from whichever registry npm is set to, because the lockfile names none', () => {
    for (const name of ['package-lock.json', 'site/package-lock.json']) {
      const lock = JSON.parse(read(name)) as {
        packages: Record<string, { resolved?: string; link?: boolean }>
      }
      assert.ok(Object.keys(lock.packages).length > 1)
      const resolved = Object.entries(lock.packages).filter(
        ([, entry]) => entry.resolved !== undefined && entry.link !== true,
      )
      assert.deepEqual(resolved, [])
    }
  })

  it('depends on exact versions only', () => {
    const kinds = ['dependencies', 'optionalDependencies', 'devDependencies', 'overrides']
    for (const name of ['package.json', 'web/package.json', 'site/package.json']) {
      const manifest = JSON.parse(read(name)) as Record<string, Record<string, string> | undefined>
      const versions = kinds.flatMap((kind) => Object.entries(manifest[kind] ?? {}))
      assert.ok(versions.length > 0)
      const loose = versions.filter(
        ([, version]) => !/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
      )
      assert.deepEqual(loose, [])
    }
  })

  it('has a lockfile that agrees with package.json', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, unknown>
    const lock = JSON.parse(read('package-lock.json')) as { packages: { '': Record<string, unknown> } }
    for (const kind of ['version', 'dependencies', 'optionalDependencies', 'devDependencies']) {
      assert.deepEqual(lock.packages[''][kind], manifest[kind], kind)
    }
  })

  it('hashes passwords at the full cost, unless a test says otherwise', () => {
    // In src/ the option is only declared and passed on: no command and no setting sets it.
    const files = globSync('src/**/*.{ts,mjs}', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
    const places = files.flatMap((file) =>
      [...read(file).matchAll(/.*\bpasswordCost\b.*/g)].map(([line]) => `${file}: ${line.trim()}`),
    )
    assert.deepEqual(places.sort(), [
      'src/programs/server/people-services.ts: ...(passwordCost && { cost: passwordCost }),',
      'src/programs/server/people-services.ts: function createAccountServices({ db, core, config, secret, now, logger, passwordCost }: ServiceParts) {',
      'src/programs/server/server.ts: passwordCost: options.passwordCost,',
      'src/programs/server/server.ts: readonly passwordCost?: PasswordCost',
      'src/programs/server/service-parts.ts: readonly passwordCost?: PasswordCost | undefined',
    ])
  })

  it('links only to files that exist in its documents', () => {
    const documents = globSync(['*.md', 'docs/**/*.md', 'bench/**/*.md'], { cwd: root })
    assert.ok(documents.length > 0)
    const broken = documents.flatMap((document) =>
      [...read(document).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => globSync(path.join(root, path.dirname(document), target)).length === 0)
        .map((target) => `${document} -> ${target}`),
    )
    assert.deepEqual(broken, [])
  })

  it('names only existing source files in its documents', () => {
    // Decision records describe the code as it was at their date.
    const documents = globSync(['*.md', 'docs/*.md', 'bench/*.md'], { cwd: root }).filter(
      (document) => document !== 'CHANGELOG.md',
    )
    const stale = documents.flatMap((document) =>
      [...read(document).matchAll(/`((?:src|web|test|bench|bin|docs)\/[\w./-]+\.\w+)`/g)]
        .map(([, file = '']) => file)
        .filter((file) => !existsSync(path.join(root, file)))
        .map((file) => `${document} names ${file}`),
    )
    assert.deepEqual(stale, [])
  })

  it('names only existing documents in its code', () => {
    const sources = globSync('{src,bin,bench,web/src}/**/*.{ts,tsx,mjs,cjs}', { cwd: root })
    const stale = sources.flatMap((source) =>
      [...read(source).matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
        .filter(([document]) => !existsSync(path.join(root, document)))
        .map(([document]) => `${source} names ${document}`),
    )
    assert.deepEqual(stale, [])
  })

  it('carries the whole Apache License 2.0', () => {
    const license = read('LICENSE')
    assert.match(license, /Apache License\s+Version 2\.0, January 2004/)
    assert.match(license, /END OF TERMS AND CONDITIONS/)
    assert.equal((JSON.parse(read('package.json')) as { license: string }).license, 'Apache-2.0')
  })
})
