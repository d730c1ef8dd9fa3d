import { useEffect } from 'react'
import { useTexts } from '../texts/texts.tsx'

/** Names the page in the browser's tabs and history. */
export function useTitle(name: string | undefined): void {
  const { appName } = useTexts('common')
  useEffect(() => {
    document.title = name ? `${name} · ${appName}` : appName
    return () => {
      document.title = appName
    }
  }, [name, appName])
}
