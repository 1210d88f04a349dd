/** The parts of OpenAPI 3.1 that the document uses. https://spec.openapis.org/oas/v3.1.1.html */

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example | Reference>>;
}

export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

interface Reference {
  readonly $ref: string;
}

type JsonContent = Readonly<Record<'application/json', MediaType>>;

export interface Server {
  readonly url: string;
  readonly description: string;
  readonly variables?: Readonly<Record<string, { readonly default: string; readonly description?: string }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
  readonly content?: JsonContent;
  readonly example?: unknown;
}

export interface ResponseObject {
  readonly description: string;
  readonly content: JsonContent;
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly servers?: readonly Server[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: JsonContent };
  readonly responses: Readonly<Record<string, ResponseObject>>;
  /** Section of the interface. */
  readonly 'x-source': string;
  readonly 'x-origin': 'interface' | 'public dialect';
  /** Sending it twice does no more than sending it once. */
  readonly 'x-repeatable': boolean;
  /** Permission that a scoped key needs. */
  readonly 'x-permission'?: string;
  /** `permission`, and error codes of `responses`, that the interface does not name for this operation. */
  readonly 'x-assumed'?: readonly string[];
  /** Least time between two calls with one key, in ms: the public dialect's. */
  readonly 'x-public-spacing-ms'?: number;
  readonly 'x-replaced-by'?: string;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly Server[];
  readonly security: OperationObject['security'];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly examples: Readonly<Record<string, Example>>;
  };
}
