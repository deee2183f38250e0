export async function run(_args: string[]): Promise<void> {}
