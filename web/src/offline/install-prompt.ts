/** An event of Chromium that is not part of a standard yet. */
interface InstallPrompt extends Event {
  prompt(): Promise<unknown>
}

let offered: InstallPrompt | undefined

/** Keeps the offer of the browser to install the app. It comes once, before a page can show it. */
export function watchInstallPrompt(): void {
  addEventListener('beforeinstallprompt', (event) => {
    offered = event as InstallPrompt
  })
  addEventListener('appinstalled', () => {
    offered = undefined
  })
}

export const canInstall = () => offered !== undefined

/** Whether the page runs as an installed app. */
export const isInstalled = () => matchMedia('(display-mode: standalone)').matches

export async function installApp(): Promise<void> {
  await offered?.prompt()
  // An offer can be used once.
  offered = undefined
}
