// `npm run texts` lists missing and invalid messages of every language, `npm run texts -- fr` those of one.
import { messageArguments } from '../web/src/texts/message-arguments.ts'
import { checkMessages, flatten } from '../web/texts-compiler/check.ts'
import { listLanguages, readLanguageInfo, readMessages, SOURCE } from '../web/texts-compiler/messages.ts'

const wanted = process.argv.slice(2)
const english = readMessages(SOURCE)
const sentences = flatten(english)
const known = listLanguages()
const unknown = wanted.filter((language) => !known.includes(language))
if (unknown.length > 0) {
  process.stderr.write(`No such language: ${unknown.join(', ')}. There are ${known.join(', ')}.\n`)
  process.exit(2)
}
let hasProblems = false
for (const language of wanted.length > 0 ? wanted : known) {
  const { missing, problems } = checkMessages(language, readMessages(language), english, messageArguments)
  const { name, reviewed } = readLanguageInfo(language)
  const translated = sentences.size - missing.length
  const state = reviewed ? 'reviewed' : 'not reviewed'
  process.stdout.write(`${language} (${name}): ${translated} of ${sentences.size} messages, ${state}\n`)
  for (const key of missing) process.stdout.write(`  missing ${key}: ${sentences.get(key)}\n`)
  for (const problem of problems) process.stdout.write(`  wrong ${problem}\n`)
  hasProblems ||= problems.length > 0
}
process.exitCode = hasProblems ? 1 : 0
