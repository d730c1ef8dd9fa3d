'use strict'
// What `npm start`, `npm test`, `npm run check` and `npm run bench` call: installs what is missing, builds the web
// app if it changed, then hands over to Node 24. Old syntax on purpose, because any Node from 12 on may run it.
const crypto = require('crypto')
const fs = require('fs')
const path = require('path')
const { findNode, giveUp, handOver, program, root, run } = require('./hand-over.cjs')

const tasks = {
  serve: program.concat('serve'),
  test: [path.join(root, 'bin/test.ts')],
  check: [path.join(root, 'bin/check.ts')],
  bench: [path.join(root, 'bench/run.ts')],
}

const task = tasks[process.argv[2]]
if (task === undefined) giveUp('Say what to do: node bin/setup.cjs ' + Object.keys(tasks).join('|') + '.')
const begin = () => handOver(task.concat(process.argv.slice(3)))
install(() => (process.argv[2] === 'check' ? begin() : buildWebApp(begin)))

function install(done) {
  const lockText = fs.readFileSync(path.join(root, 'package-lock.json'))
  const wanted = crypto.createHash('sha256').update(lockText).digest('hex') + '\n'
  const stamp = path.join(root, 'node_modules', '.carrel-lock')
  if (readText(stamp) === wanted) return done()
  if (installedByHand(JSON.parse(lockText))) {
    fs.writeFileSync(stamp, wanted)
    return done()
  }
  process.stdout.write('Installing the packages of package-lock.json into node_modules.\n')
  // Packages are data until the program runs: what their authors would have run at once stays unrun.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--include=optional']
  npm(['ci'].concat(options), () => {
    fs.writeFileSync(stamp, wanted)
    done()
  })
}

/** Whether `npm ci` was run by someone else: npm's own record then agrees with the lockfile. */
function installedByHand(lock) {
  const record = readText(path.join(root, 'node_modules', '.package-lock.json'))
  if (record === undefined) return false
  const installed = JSON.parse(record).packages
  const agrees = (name) => installed[name] && installed[name].integrity === lock.packages[name].integrity
  return Object.keys(lock.packages).every((name) => {
    const entry = lock.packages[name]
    if (name === '' || agrees(name)) return true
    return entry.optional === true && !suitsThisMachine(entry)
  })
}

function suitsThisMachine(entry) {
  const suits = (list, ours) => list === undefined || list.indexOf(ours) !== -1
  // A package for another C library than this machine's is left out by npm too.
  return suits(entry.os, process.platform) && suits(entry.cpu, process.arch) && entry.libc === undefined
}

function npm(args, done) {
  // Under `npm test` npm says where it is; by name it is found through PATH (a script on Windows).
  const cli = process.env.npm_execpath
  const known = cli !== undefined && /npm-cli\.c?js$/.test(cli)
  const program = known ? process.env.npm_node_execpath || process.execPath : 'npm'
  const shell = !known && process.platform === 'win32'
  run(program, (known ? [cli] : []).concat(args), { cwd: root, shell }, (error, code) => {
    if (error) giveUp('npm could not be started (' + error.code + '): install npm, then try again.')
    if (code !== 0) {
      giveUp(
        'The packages could not be installed (npm ci ended with ' +
          code +
          ', its reason is above): see that the npm registry can be reached, then try again.',
      )
    }
    done()
  })
}

/** The web app, unless it was built from just these files. */
function buildWebApp(done) {
  const web = path.join(root, 'web')
  const dist = path.join(web, 'dist')
  const hash = crypto.createHash('sha256')
  hash.update(fs.readFileSync(path.join(root, 'package-lock.json')))
  filesBelow(web).forEach((file) =>
    hash.update(path.relative(web, file) + '\0').update(fs.readFileSync(file)),
  )
  const wanted = hash.digest('hex') + '\n'
  const stamp = path.join(dist, '.built-from')
  if (readText(stamp) === wanted) return done()
  process.stdout.write('Building the web app.\n')
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  run(findNode() || process.execPath, [vite, 'build', '--logLevel', 'warn'], { cwd: web }, (error, code) => {
    if (error || code !== 0) giveUp('The web app could not be built; the reason is above.')
    fs.writeFileSync(stamp, wanted)
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
