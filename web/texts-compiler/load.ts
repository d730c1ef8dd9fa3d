import { messageArguments } from '../src/texts/message-arguments.ts'
import { type MessageRuntime, messageRuntime } from '../src/texts/message-runtime.ts'
import type { Texts } from '../src/texts/text-types.ts'
import { compileMessages } from './compile.ts'
import { readLanguageInfo, readMessages, SOURCE } from './messages.ts'

/** The module of a language, as the build has it: all areas, or some of them. */
export function compileLanguage(language: string, isWanted: (area: string) => boolean = () => true): string {
  const english = Object.entries(readMessages(SOURCE)).filter(([area]) => isWanted(area))
  const { direction } = readLanguageInfo(language)
  return compileMessages(readMessages(language), Object.fromEntries(english), messageArguments, direction)
}

/** The texts of a language, for tests and programs that run without the build. */
export async function loadCompiledTexts(language: string): Promise<Texts> {
  return evaluateTexts(compileLanguage(language), language) as Promise<Texts>
}

/** Evaluates a compiled module. */
export async function evaluateTexts(source: string, language: string): Promise<unknown> {
  const module = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    default: (own: MessageRuntime, english: MessageRuntime) => unknown
  }
  return module.default(messageRuntime(language), messageRuntime(SOURCE))
}
