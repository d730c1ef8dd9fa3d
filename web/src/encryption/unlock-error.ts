import { CarrelError } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useErrorMessage } from '../ui/index.ts'

/** Translates the error of an unlock attempt. */
export function useUnlockError(): (error: unknown) => string {
  const texts = useTexts('libraries')
  const wording = useErrorMessage()
  return (error) => {
    if (!(error instanceof CarrelError)) return wording(error)
    if (error.status === 429) return texts.tooOften
    return /^Wrong (?:old )?password/.test(error.message) ? texts.wrongPassword : wording(error)
  }
}
