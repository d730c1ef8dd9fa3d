'use strict'
// What `npm start`, `npm test` and the other scripts of package.json call: installs what is missing, builds the web
// app if it changed, then hands over to Node 24. Old syntax on purpose, because any Node from 12 on may run it.
const crypto = require('crypto')
const fs = require('fs')
const os = require('os')
const path = require('path')
const { findNode, giveUp, handOver, program, root, run, runtimePackage } = require('./hand-over.cjs')

const tasks = {
  serve: program.concat('serve'),
  test: [path.join(root, 'bin/test.ts')],
  crash: [path.join(root, 'test/crash/run.ts')],
  mutation: [path.join(root, 'test/mutation/run.ts')],
  kills: [path.join(root, 'test/kills/run.ts')],
  faults: [path.join(root, 'test/faults/run.ts')],
  soak: [path.join(root, 'test/soak/run.ts')],
  check: [path.join(root, 'bin/check.ts')],
  bench: [path.join(root, 'bench/run.ts')],
  wasm: [path.join(root, 'bin/build-wasm.ts')],
  generate: ['--no-warnings', path.join(root, 'bin/generate.ts')],
  docs: ['--no-warnings', path.join(root, 'site/build.ts')],
  texts: [path.join(root, 'bin/texts.ts')],
  s3: [path.join(root, 'bin/s3.ts')],
  release: ['--no-warnings', path.join(root, 'bin/release.ts')],
}

/** What can be installed. Each set contains the ones before it. */
const sets = {
  server: {
    rank: 1,
    sentence: 'Installing what the server needs into node_modules.\n',
    options: ['--omit=dev', '--workspaces=false'],
  },
  build: {
    rank: 2,
    sentence: 'Installing what the server needs, and what builds the web app, into node_modules.\n',
    options: ['--omit=dev'],
  },
  everything: {
    rank: 3,
    sentence: 'Installing the packages of package-lock.json, with those for tests, into node_modules.\n',
    options: ['--include=dev'],
  },
}
// Install scripts of packages are never run.
const npmOptions = ['--ignore-scripts', '--no-audit', '--no-fund', '--include=optional']

const lockText = fs.readFileSync(path.join(root, 'package-lock.json'))
const lockHash = crypto.createHash('sha256').update(lockText).digest('hex')
const stamp = path.join(root, 'node_modules', '.carrel-lock')
const dist = path.join(root, 'web', 'dist')

const name = process.argv[2]
const task = tasks[name]
if (task === undefined) giveUp('Say what to do: node bin/setup.cjs ' + Object.keys(tasks).join('|') + '.')
const begin = () => handOver(task.concat(process.argv.slice(3)))
if (['check', 'generate', 'docs', 'wasm', 'texts', 's3'].indexOf(name) !== -1) install('everything', begin)
else if (name !== 'serve') install('everything', () => buildWebApp(begin))
else if (isWebAppBuilt()) install('server', begin)
else install('build', () => buildWebApp(() => removeBuildTools(begin)))

/** Installs a set of packages, unless it is there. Packages for tests stay if they were there. */
function install(wanted, done) {
  const found = installedSet()
  if (found.isCurrent && sets[found.set].rank >= sets[wanted].rank) return done()
  if (installedByHand(JSON.parse(lockText))) {
    writeStamp('everything')
    return done()
  }
  const chosen = found.set === 'everything' ? 'everything' : wanted
  process.stdout.write(sets[chosen].sentence)
  npm(['ci'].concat(sets[chosen].options, npmOptions), () => {
    writeStamp(chosen)
    done()
  })
}

/** After a build for `npm start`. The packages that build the web app are the larger part. */
function removeBuildTools(done) {
  if (installedSet().set !== 'build') return done()
  process.stdout.write('Removing what built the web app from node_modules.\n')
  npm(['prune'].concat(sets.server.options, npmOptions), () => {
    writeStamp('server')
    done()
  })
}

/** The set that was installed last, and whether it was from the current lockfile. */
function installedSet() {
  const words = (readText(stamp) || '').trim().split(' ')
  if (words[0] === '') return { set: undefined, isCurrent: false }
  return { set: sets[words[1]] ? words[1] : 'everything', isCurrent: words[0] === lockHash }
}

function writeStamp(set) {
  fs.writeFileSync(stamp, lockHash + ' ' + set + '\n')
}

/** Whether everything was installed by `npm ci` on the command line: npm's record of node_modules agrees with the lockfile. */
function installedByHand(lock) {
  const record = readText(path.join(root, 'node_modules', '.package-lock.json'))
  if (record === undefined) return false
  const installed = JSON.parse(record).packages
  const agrees = (name) => installed[name] && installed[name].integrity === lock.packages[name].integrity
  return Object.keys(lock.packages).every((name) => {
    const entry = lock.packages[name]
    if (name === '' || agrees(name)) return true
    return entry.optional === true && !isForThisMachine(entry)
  })
}

/** Whether an optional package is for this machine in particular. One without such a list may belong to a package for another. */
function isForThisMachine(entry) {
  const names = (list, ours) => list !== undefined && list.indexOf(ours) !== -1
  // npm also omits packages for another C library.
  return names(entry.os, process.platform) && names(entry.cpu, process.arch) && entry.libc === undefined
}

/**
 * Runs npm on the Node that the packages will run on. npm compares their `engines` with the Node it runs on itself, so an older one
 * would warn of packages it never runs.
 */
function npm(args, done) {
  withRuntime((node, removeRuntime) => {
    runNpm(node, args, root, () => {
      removeRuntime()
      done()
    })
  })
}

function runNpm(node, args, folder, done) {
  // Under `npm test` npm says where it is; by name it is found through PATH (a script on Windows).
  const cli = process.env.npm_execpath
  const isKnown = cli !== undefined && /npm-cli\.c?js$/.test(cli)
  const env = Object.assign({}, process.env)
  const pathName = Object.keys(env).find((key) => key.toUpperCase() === 'PATH') || 'PATH'
  env[pathName] = path.dirname(node) + path.delimiter + (env[pathName] || '')
  const options = { cwd: folder, shell: !isKnown && process.platform === 'win32', env }
  run(isKnown ? node : 'npm', (isKnown ? [cli] : []).concat(args), options, (error, code) => {
    if (error) giveUp('npm could not be started (' + error.code + '): install npm, then try again.')
    if (code !== 0) giveUp(npmFailed('npm ' + args[0], code))
    done()
  })
}

function npmFailed(command, code) {
  return (
    'The packages could not be installed (' +
    command +
    ' ended with ' +
    code +
    ', its reason is above): see that the npm registry can be reached, then try again.'
  )
}

/**
 * Finds a Node that Carrel runs on: the running one, or the one of an earlier installation, or one installed in a temporary folder
 * from the entry of the lockfile. Where there is none for this machine, the running one has to do.
 */
function withRuntime(done) {
  const keep = () => {}
  const found = findNode()
  // Windows cannot delete a program that runs, which `npm ci` would have to do with an earlier installation.
  if (found !== undefined && (found === process.execPath || process.platform !== 'win32'))
    return done(found, keep)
  const name = runtimePackage()
  const entry = JSON.parse(lockText).packages['node_modules/' + name]
  if (entry === undefined) return done(process.execPath, keep)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'carrel-runtime-'))
  const manifest = { name: 'runtime', version: '1.0.0', dependencies: {} }
  manifest.dependencies[name] = entry.version
  const packages = { '': manifest }
  packages['node_modules/' + name] = Object.assign({}, entry, { optional: false })
  const lock = { name: 'runtime', version: '1.0.0', lockfileVersion: 3, requires: true, packages }
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest))
  fs.writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock))
  const remove = () => (fs.rmSync || fs.rmdirSync)(folder, { recursive: true })
  process.stdout.write('Fetching Node.js ' + entry.version + ', which Carrel runs on.\n')
  runNpm(process.execPath, ['ci'].concat(npmOptions), folder, () => {
    const file = process.platform === 'win32' ? 'node.exe' : 'node'
    done(path.join(folder, 'node_modules', name, 'bin', file), remove)
  })
}

function isWebAppBuilt() {
  const builtFrom = readText(path.join(dist, '.built-from'))
  return builtFrom !== undefined && builtFrom === webAppHash()
}

/** Hash of all files that the web app is built from. */
function webAppHash() {
  const web = path.join(root, 'web')
  const hash = crypto.createHash('sha256')
  hash.update(lockText)
  filesBelow(web).forEach((file) =>
    hash.update(path.relative(web, file) + '\0').update(fs.readFileSync(file)),
  )
  return hash.digest('hex') + '\n'
}

function buildWebApp(done) {
  if (isWebAppBuilt()) return done()
  process.stdout.write('Building the web app.\n')
  const builtFrom = webAppHash()
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const options = { cwd: path.join(root, 'web') }
  run(findNode() || process.execPath, [vite, 'build', '--logLevel', 'warn'], options, (error, code) => {
    if (error || code !== 0) giveUp('The web app could not be built; the reason is above.')
    fs.writeFileSync(path.join(dist, '.built-from'), builtFrom)
    done()
  })
}

function filesBelow(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'dist' && entry.name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .reduce((files, entry) => {
      const file = path.join(folder, entry.name)
      return files.concat(entry.isDirectory() ? filesBelow(file) : [file])
    }, [])
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
