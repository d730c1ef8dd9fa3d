import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { IntlMessageFormat } from 'intl-messageformat'
import { mailMessages } from './texts.ts'

type Messages = { readonly [key: string]: string | Messages }

/** The arguments of each message, by its path. */
function argumentsOf(messages: Messages, path = ''): Map<string, string[]> {
  return new Map(
    Object.entries(messages).flatMap(([key, message]) =>
      typeof message === 'string'
        ? [[`${path}${key}`, parseArguments(message)] as const]
        : [...argumentsOf(message, `${path}${key}.`)],
    ),
  )
}

/** Whether an element is text and no argument: the parser gives it the type 0. */
const isLiteral = ({ type }: { readonly type: number }) => type === 0

/** The names of the arguments of a message. Throws if it is malformed. */
function parseArguments(message: string): string[] {
  const names = new Set<string>()
  const walk = (elements: ReturnType<IntlMessageFormat['getAst']>) => {
    for (const element of elements) {
      // Neither text nor the number of a plural.
      if (!isLiteral(element) && 'value' in element) names.add(element.value)
      if ('options' in element) for (const { value } of Object.values(element.options)) walk(value)
    }
  }
  walk(new IntlMessageFormat(message).getAst())
  return [...names].sort()
}

describe('the texts of mails', () => {
  const english = argumentsOf(mailMessages.en)
  for (const [language, messages] of Object.entries(mailMessages)) {
    it(`have the messages and arguments of the English ones in ${language}`, () => {
      assert.deepEqual(argumentsOf(messages), english)
    })
  }
})
