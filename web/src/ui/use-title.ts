import { useEffect } from 'react'
import { useTexts } from '../texts/index.ts'

/** Sets the document title while a page is shown. */
export function useTitle(name: string | undefined): void {
  const { appName } = useTexts('common')
  useEffect(() => {
    document.title = name ? `${name} · ${appName}` : appName
    return () => {
      document.title = appName
    }
  }, [name, appName])
}
