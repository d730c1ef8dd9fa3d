import { useEffect } from 'react'
import { useTexts } from '../texts/texts.tsx'

/** Names the page in the tab of the browser, for as long as it is shown. */
export function usePageTitle(name: string): void {
  const { appName } = useTexts('common')
  useEffect(() => {
    document.title = `${name} · ${appName}`
    return () => {
      document.title = appName
    }
  }, [name, appName])
}
