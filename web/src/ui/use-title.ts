import { useEffect } from 'react'
import { useTexts } from '../texts/index.ts'

/** What the tab of the browser is called while a page is shown. */
export function useTitle(name: string | undefined): void {
  const { appName } = useTexts('common')
  useEffect(() => {
    document.title = name ? `${name} · ${appName}` : appName
    return () => {
      document.title = appName
    }
  }, [name, appName])
}
