import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect } from "chai";
import {
  qualifiedServiceName,
  readDescriptorSet,
  readFileDescriptors,
  type ServiceName,
  serviceDefinitions,
} from "./index.ts";

/** Every method of the contract; a star marks the methods that answer with a stream. */
const CONTRACT: Readonly<Record<ServiceName, string>> = {
  KeyValueService:
    "CreateNamespace DeleteNamespace ListNamespaces GetKey PutKey DeleteKey ListKeys CompareAndSwap TouchKey ListKeyVersions CountKeys",
  LockService:
    "CreateLock DescribeLock AcquireLock ReleaseLock SetLockValue ForceReleaseLock " +
    "CreateRWLock DescribeRWLock AcquireRWLock ReleaseRWLock DeleteLock DeleteRWLock " +
    "CreateSemaphore DescribeSemaphore AcquireSemaphore ReleaseSemaphore UpdateSemaphore DeleteSemaphore " +
    "ListLocks ListLockWaits",
  MemoryService: "AllocateMemory DescribeMemory ResizeMemory FreeMemory WriteMemory ReadMemory ListMemoryRegions",
  SessionService: "CreateSession RenewSessions EndSession DescribeSession ListSessions",
  TransactionService: "Transact",
  WatchService: "WatchKeys* WatchLocks* ListStreams",
  EventLogService: "CreateLog GetLog ListLogs UpdateLog DeleteLog AppendEvent AppendEvents ReadEvents TailEvents*",
  AccountService:
    "ExchangeToken Login VerifyEmail RequestPasswordReset CreateUser GetUser ListUsers UpdateUser DeleteUser CreateApiKey ListApiKeys RevokeApiKey GetUsage",
  ClusterService: "GetCluster",
  ClusterAdminService:
    "GetStatus ListMembers GetMemberCounters GetSettings Bootstrap AddMember PromoteMembers RemoveMembers " +
    "TransferLeadership " +
    "PutSettings RotateKeys ResetOwner Snapshot* StartBackup GetBackupStatus ListBackups Compact",
};

const NAMES = Object.keys(CONTRACT) as ServiceName[];

describe("serviceDefinitions", () => {
  it("have every service and method of the contract, unary or answering with a stream", () => {
    expect(Object.keys(serviceDefinitions)).to.have.members(NAMES);
    for (const name of NAMES) {
      const methods = Object.values(serviceDefinitions[name]).map((method) => {
        expect(method.requestStream).to.equal(false);
        expect(method.path).to.match(new RegExp(`^/${qualifiedServiceName(name)}/`));
        return method.path.replace(/.*\//, "") + (method.responseStream ? "*" : "");
      });
      expect(methods.join(" ")).to.equal(CONTRACT[name]);
    }
  });

  it("are the services in the descriptor set, with XRequest and XResponse for each X", () => {
    const { file: files } = fromBinary(FileDescriptorSetSchema, readDescriptorSet());
    const contractFiles = files.filter((file) => file.package === "coordination.v1");
    const services = contractFiles.flatMap((file) =>
      file.service.map((service) => ({ package: file.package, service })),
    );
    expect(services.map((each) => `${each.package}.${each.service.name}`)).to.have.members(
      NAMES.map(qualifiedServiceName),
    );
    for (const method of services.flatMap((each) => each.service.method)) {
      expect(method.inputType).to.equal(`.coordination.v1.${method.name}Request`);
      expect(method.outputType).to.equal(`.coordination.v1.${method.name}Response`);
    }
    const codecs = Object.values(serviceDefinitions).flatMap((methods) =>
      Object.values(methods).map(({ path, requestCodec, responseCodec }) => [
        path,
        `.${requestCodec.$type}`,
        `.${responseCodec.$type}`,
      ]),
    );
    expect(codecs).to.have.deep.members(
      services.flatMap(({ package: scope, service }) =>
        service.method.map(({ name, inputType, outputType }) => [
          `/${scope}.${service.name}/${name}`,
          inputType,
          outputType,
        ]),
      ),
    );
  });
});

describe("readFileDescriptors", () => {
  it("returns the descriptor set file by file", () => {
    const { file: files } = fromBinary(FileDescriptorSetSchema, readDescriptorSet());
    const names = readFileDescriptors().map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
    expect(names).to.deep.equal(files.map((file) => file.name));
    expect(names).to.include("grpc/health/v1/health.proto");
  });
});

describe("readDescriptorSet", () => {
  const { file: files } = fromBinary(FileDescriptorSetSchema, readDescriptorSet());

  it("has every file that another file imports, each after the files that it imports", () => {
    const seen = new Set<string>();
    for (const file of files) {
      for (const dependency of file.dependency) {
        expect(seen, file.name).to.include(dependency);
      }
      seen.add(file.name);
    }
    expect([...seen]).to.include.members(["google/rpc/error_details.proto", "google/protobuf/any.proto"]);
  });

  it("has the cluster revision as field 15 in every answer of the client services that is about the state", () => {
    // Tokens are about a caller, a tail is about sequences, and mails say nothing.
    const others = ["ExchangeToken", "Login", "VerifyEmail", "RequestPasswordReset", "TailEvents*"];
    const unary = NAMES.filter((name) => name !== "ClusterAdminService").flatMap((name) => CONTRACT[name].split(" "));
    const messages = new Map(files.flatMap((file) => file.messageType.map((message) => [message.name, message])));
    for (const method of unary.filter((name) => !others.includes(name))) {
      const response = messages.get(`${method.replace("*", "")}Response`);
      const revision = response?.field.find((field) => field.name === "revision");
      expect(revision?.number, method).to.equal(15);
    }
  });
});
