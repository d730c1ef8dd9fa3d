import { CircleAlert, SearchX } from 'lucide-react'
import { useCallback, useEffect } from 'react'
import { CarrelError, reachable } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, ButtonLink } from './button.tsx'
import { translateError } from './error-codes.ts'
import { isMissingPart, reloadIfOutdated } from './outdated.ts'
import { Empty } from './states.tsx'

/** Translates an error into a message. */
export function useErrorMessage(): (error: unknown) => string {
  const texts = useTexts('common')
  return useCallback(
    (error) => {
      if (error instanceof CarrelError) {
        if (error.status === 507) return texts.diskFull
        if (error.status === 0) return texts.unreachable
        return translateError(error.message, texts.errors) ?? (error.message || texts.failed)
      }
      if (isMissingPart(error)) return reachable() ? texts.outdated : texts.unreachable
      return error instanceof Error && error.message !== '' ? error.message : texts.failed
    },
    [texts],
  )
}

/** Shown at an address that leads nowhere, or to something the user may not see. */
export function NotFound() {
  const texts = useTexts('common')
  return (
    <Empty icon={SearchX} title={texts.notFound} hint={texts.notFoundHint}>
      <ButtonLink to="/">{texts.toLibraries}</ButtonLink>
    </Empty>
  )
}

/** Shown instead of content that could not be loaded. */
export function LoadError(props: { error: unknown; onRetry?: () => void }) {
  const texts = useTexts('common')
  const wording = useErrorMessage()
  const { error } = props
  const isMissing = isMissingPart(error)
  useEffect(() => {
    if (isMissing) void reloadIfOutdated()
  }, [isMissing])
  if (error instanceof CarrelError && (error.status === 404 || error.status === 403)) return <NotFound />
  return (
    <Empty icon={CircleAlert} title={texts.failed} hint={wording(error)}>
      {/* React does not load a part again that failed to load once. */}
      {isMissing ? (
        <Button variant="primary" onClick={() => location.reload()}>
          {texts.reload}
        </Button>
      ) : (
        props.onRetry && <Button onClick={props.onRetry}>{texts.retry}</Button>
      )}
    </Empty>
  )
}
