import { ApiError } from '../api/http.ts'
import { useTexts } from '../texts/texts.tsx'
import { useWording } from '../ui/failed.tsx'

/** Why the password of a library was not taken, in the language of the page. */
export function useUnlockRefusal(): (error: unknown) => string {
  const texts = useTexts('libraries')
  const wording = useWording()
  return (error) => {
    if (!(error instanceof ApiError)) return wording(error)
    if (error.status === 429) return texts.tooOften
    return /^Wrong (?:old )?password/.test(error.message) ? texts.wrongPassword : wording(error)
  }
}
