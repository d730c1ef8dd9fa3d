export { signIn, signOut, signOutEverywhere, useSignedIn } from './session.tsx'
export { SignIn } from './sign-in.tsx'
